"""Campaigns as jobs of a batch system: scripts that run a campaign in parts, and their submission.

For clusters where no process may stay on a login node. Every element of a job array is ``vindeby run --part i/n``; the
merge is a job that begins when all elements have ended, however they did. Nothing here runs tasks.

Reading order: ``parts`` (what is missing of which part), ``script`` (the files), ``submitted`` (which jobs).
"""
