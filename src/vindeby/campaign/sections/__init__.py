"""The sections of a campaign file as frozen models, one file per section."""
