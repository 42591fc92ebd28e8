"""The live board: a small web server that shows a campaign while it runs. Starlette and uvicorn live only here.

It reads only. Each viewer asks once per second for what is new; one look serves all of them, and nothing is looked at
while nobody asks.
"""
