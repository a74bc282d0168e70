;;; SPDX-License-Identifier: LGPL-2.1-or-later
;;;
;;; Orrery for Guix: `guix build -f packaging/guix/orrery.scm` in a checkout builds that checkout.
;;;
;;; Invariant: each option of #:configure-flags is one of configure's (tests/tools/recipes.sh).

(use-modules (guix packages)
             (guix gexp)
             (guix git-download)
             (guix build-system gnu)
             ((guix licenses) #:prefix license:)
             (gnu packages autotools)
             (gnu packages fabric-management)
             (gnu packages gcc)
             (gnu packages maths)
             (gnu packages mpi)
             (gnu packages opencl)
             (gnu packages pkg-config)
             (gnu packages python)
             (gnu packages python-xyz)
             (gnu packages simulation))

(define %checkout
  (string-append (dirname (current-filename)) "/../.."))

(define-public orrery
  (package
    (name "orrery")
    (version "0.1.0")
    (source
     (local-file %checkout "orrery-checkout"
                 #:recursive? #t
                 #:select? (git-predicate %checkout)))
    (build-system gnu-build-system)
    (arguments
     (list
      #:configure-flags
      #~(list "--disable-static"
              "--disable-cuda"
              "--without-clblast"
              "--with-starpu-names=auto"
              (string-append "--with-simgrid=" #$(this-package-input "simgrid")))
      ;; The tests start hundreds of processes and want a home; those of one process run.
      #:phases
      #~(modify-phases %standard-phases
          (replace 'bootstrap
            (lambda _
              (patch-shebang "autogen.sh")
              (invoke "sh" "autogen.sh")))
          (replace 'check
            (lambda* (#:key tests? #:allow-other-keys)
              (when tests?
                (setenv "HOME" (getcwd))
                (for-each
                 (lambda (test)
                   (invoke "make" (string-append test ".log"))
                   (invoke "grep" "-q" "^:test-result: PASS" (string-append test ".trs")))
                 '("tests/unit/choice" "tests/unit/perf_fit" "tests/core/deps"
                   "tests/core/insert.sim"))))))))
    (native-inputs
     (list autoconf automake libtool pkg-config gfortran))
    (inputs
     (list `(,hwloc "lib") openblas opencl-headers opencl-icd-loader python
           python-matplotlib python-numpy simgrid ucx))
    (propagated-inputs
     (list openmpi))
    (home-page "https://orrery.example")
    (synopsis "Task runtime for clusters whose programs can be simulated first")
    (description
     "Orrery runs programs that are made of tasks, with the interface of StarPU and StarPU-MPI: for
real, on the cores and devices of machines, over MPI, or simulated, in virtual time, over SimGrid, so
that a run of a thousand nodes fits on a laptop.")
    (license license:lgpl2.1+)))

orrery
