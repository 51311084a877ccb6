"""The core: operators, dispatch, handles and lenses, tape, trace, backends.

Nothing here is public.
"""
