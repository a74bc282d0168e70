# SPDX-License-Identifier: LGPL-2.1-or-later
# Build fragment of the documentation: manual pages, the plain files of the
# manual, and the same as linked pages in doc/html of the build tree (`make html`).
include %D%/sources.mk
dist_man_MANS += $(orr_man)
EXTRA_DIST += $(orr_doc) build-aux/man-options

html-local:
if ORR_SPHINX
	@echo "  HTML    %D%/html"
	@$(MKDIR_P) %D% && $(SPHINX_BUILD) -q -W --keep-going -n -c $(srcdir)/%D%/sphinx -b html $(srcdir)/%D% %D%/html
	@echo "the manual is in %D%/html/index.html"
else
	@echo "make html needs Sphinx with MyST (Debian: python3-sphinx, python3-myst-parser); install them and configure again" >&2; exit 1
endif

install-html-local: html-local
	$(MKDIR_P) "$(DESTDIR)$(htmldir)/manual"
	cd %D%/html && cp -R *.html *.js _static _images "$(DESTDIR)$(htmldir)/manual/"

uninstall-local:
	rm -rf "$(DESTDIR)$(htmldir)/manual"

mostlyclean-local:
	rm -rf %D%/html
