"""Working copies over HTTP, under `/api/v1/manage/`: for tokens whose user may edit.

A change names the version it was made from (`If-Match`), so that nobody's work is
overwritten unseen. A documentation pipeline needs none: it puts its documents by their ids.

`articles` has the working copies, `steps` what makes them live and takes them off the site,
`documents` those that another system names, `categories` what they stand in. `views` is what
these share, `rows` finds and locks.
"""
