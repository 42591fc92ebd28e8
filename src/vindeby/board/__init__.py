"""The live board: a small web server that shows a campaign while it runs. Starlette and uvicorn live only here.

It reads only. One observer looks once a second for all viewers; each look is put into words once and sent to every one
of them, so that twenty viewers cost little more than one.
"""
