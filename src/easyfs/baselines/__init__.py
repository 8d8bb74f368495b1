"""The methods that EasyFS is compared with, one file each, behind the same interface.

Import the classes from :mod:`easyfs` itself; each is loaded when it is first asked for.
"""
