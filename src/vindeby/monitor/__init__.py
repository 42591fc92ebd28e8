"""How far a campaign is: as values (``observe``) and in the terminal (``view``, ``watch``)."""
