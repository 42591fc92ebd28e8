"""Reading files that nothing vouches for, inside a guarded child process: bounded, and never beyond the file itself."""
