"""Before a run begins: who may run, what is there already, and what to do about files that are bad."""
