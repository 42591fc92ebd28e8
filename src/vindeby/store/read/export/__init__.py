"""Results for other tools: as ``xarray.Dataset`` and as ``pandas.DataFrame``.

Everything here works on verified segments and knows no ``Database``. xarray and pandas are optional
(``pip install "vindeby[xarray]"``) and loaded only when they are asked for.
"""
