import {
  versions,
  type PythonSetup,
  type RepositorySpec,
  type SpecsByVersion,
} from '../repository-spec.js';

const editable = 'python -m pip install -e .';
const apt = (words: string) =>
  `apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y ${words}`;

const spec =
  (logParser: string, test = 'pytest -rA') =>
  (environment: PythonSetup, before?: string[]): RepositorySpec => ({
    environment: { install: editable, ...environment },
    test,
    logParser: `parse_log_${logParser}`,
    ...(before && { before }),
  });

const djangoFiles = (files: string[]) =>
  files.map((file) =>
    file
      .replace(/\.py$/, '')
      .replace(/^tests\//, '')
      .replaceAll('/', '.'),
  );
const django = (environment: PythonSetup, before?: string[]): RepositorySpec => ({
  ...spec('django')(environment, before),
  test: (files, version) => [
    `./tests/runtests.py --verbosity 2${version === '1.9' ? '' : ' --settings=test_sqlite --parallel 1'} ${djangoFiles(files).join(' ')}`,
  ],
});
const djangoRequirements = { requirements: ['tests/requirements/py3.txt'] };

const sympy = spec(
  'sympy',
  "PYTHONWARNINGS='ignore::UserWarning,ignore::SyntaxWarning' bin/test -C --verbose",
);
const flask = (python: string, pins: string): RepositorySpec =>
  spec('flask')({
    python,
    requirements: ['requirements/dev.txt'],
    packages: `setuptools==70.0.0 Werkzeug==2.3.7 ${pins}`.split(' '),
  });
const flask21 = 'click==8.1.3 itsdangerous==2.1.2 Jinja2==3.1.2 MarkupSafe==2.1.1';

const seabornPins = (pandas: string) =>
  `contourpy==1.1.0 cycler==0.11.0 fonttools==4.42.1 importlib-resources==6.0.1 kiwisolver==1.4.5 matplotlib==3.7.2 numpy==1.25.2 packaging==23.1 pandas==${pandas} pillow==10.0.0 pyparsing==3.0.9 pytest python-dateutil==2.8.2 pytz==2023.3.post1 scipy==1.11.2 six==1.16.0 tzdata==2023.1 zipp==3.16.2`.split(
    ' ',
  );

const qhull = [
  'QHULL_URL="http://www.qhull.org/download/qhull-2020-src-8.0.2.tgz"',
  'QHULL_TAR="/tmp/qhull-2020-src-8.0.2.tgz"',
  'QHULL_BUILD_DIR="/testbed/build"',
  'wget -O "$QHULL_TAR" "$QHULL_URL"',
  'mkdir -p "$QHULL_BUILD_DIR"',
  'tar -xvzf "$QHULL_TAR" -C "$QHULL_BUILD_DIR"',
];
const tex =
  'texlive texlive-latex-extra texlive-fonts-recommended texlive-xetex texlive-luatex cm-super';
const matplotlib = spec('matplotlib');
const matplotlibFiles = {
  requirements: ['requirements/dev/dev-requirements.txt', 'requirements/testing/travis_all.txt'],
};
const conda = 'packages of a conda environment file';

const pydicom = (python: string) => spec('pydicom')({ python, packages: ['numpy', 'pytest'] });
const pylint = spec('pylint');
const pylintFiles = { python: '3.9', requirements: ['requirements_test.txt'] };
const sklearnInstall = 'python -m pip install -v --no-use-pep517 --no-build-isolation -e .';

export const pythonSpecs: Record<string, SpecsByVersion> = {
  'django/django': {
    ...versions('1.7 1.8 1.9 1.10 1.11 2.0 2.1 2.2', () =>
      django(
        {
          python: '3.5',
          ...djangoRequirements,
          prepare: [
            apt('locales'),
            "echo 'en_US UTF-8' > /etc/locale.gen",
            'locale-gen en_US.UTF-8',
          ],
          install: 'python setup.py install',
          packages: ['setuptools'],
        },
        [
          'export LANG=en_US.UTF-8',
          'export LC_ALL=en_US.UTF-8',
          'export PYTHONIOENCODING=utf8',
          'export LANGUAGE=en_US:en',
        ],
      ),
    ),
    ...versions('1.4 1.5 1.6', () => django({ python: '3.5', install: 'python setup.py install' })),
    ...versions('3.0 3.1 3.2', () =>
      django({ python: '3.6', ...djangoRequirements }, [
        "sed -i '/en_US.UTF-8/s/^# //g' /etc/locale.gen && locale-gen",
        'export LANG=en_US.UTF-8',
        'export LANGUAGE=en_US:en',
        'export LC_ALL=en_US.UTF-8',
      ]),
    ),
    ...versions('4.0', () => django({ python: '3.8', ...djangoRequirements })),
    ...versions('4.1 4.2', () => django({ python: '3.9', ...djangoRequirements })),
    ...versions('5.0 5.1 5.2', () => django({ python: '3.11', ...djangoRequirements })),
  },
  'marshmallow-code/marshmallow': versions(
    '2.18 2.19 2.20 3.0 3.1 3.10 3.11 3.12 3.13 3.15 3.16 3.19 3.2 3.4 3.8 3.9',
    () => spec('marshmallow')({ python: '3.9', install: "python -m pip install -e '.[dev]'" }),
  ),
  'matplotlib/matplotlib': {
    ...versions('3.5 3.6 3.7 3.8 3.9', () => matplotlib({ python: '3.11', needs: conda })),
    ...versions('3.1 3.2 3.3 3.4', () =>
      matplotlib({
        python: '3.8',
        ...matplotlibFiles,
        prepare: [apt(`imagemagick ffmpeg libfreetype6-dev pkg-config ${tex}`), ...qhull],
        packages: ['pytest', 'ipython'],
      }),
    ),
    ...versions('3.0', () =>
      matplotlib({
        python: '3.7',
        ...matplotlibFiles,
        prepare: [apt('imagemagick ffmpeg libfreetype6-dev pkg-config'), ...qhull],
        packages: ['pytest'],
      }),
    ),
    ...versions('2.0 2.1 2.2 1.0 1.1 1.2 1.3 1.4 1.5', () =>
      matplotlib({
        python: '3.5',
        prepare: [apt('imagemagick ffmpeg')],
        install: 'python setup.py build; python setup.py install',
        packages: ['pytest'],
      }),
    ),
  },
  'mwaskom/seaborn': {
    ...versions('0.11', () =>
      spec('seaborn', 'pytest --no-header -rA')({ python: '3.9', packages: seabornPins('1.3.5') }),
    ),
    ...versions('0.12 0.13 0.14', () =>
      spec(
        'seaborn',
        'pytest --no-header -rA',
      )({
        python: '3.9',
        install: 'python -m pip install -e .[dev]',
        packages: seabornPins('2.0.0'),
      }),
    ),
  },
  'pallets/flask': {
    ...versions('2.0', () =>
      flask('3.9', 'Jinja2==3.0.1 itsdangerous==2.1.2 click==8.0.1 MarkupSafe==2.1.3'),
    ),
    ...versions('2.1', () => flask('3.10', flask21)),
    ...versions('2.2 2.3 3.0 3.1', () => flask('3.11', flask21)),
  },
  'psf/requests': versions(
    '0.7 0.8 0.9 0.11 0.13 0.14 1.1 1.2 2.0 2.2 2.3 2.4 2.5 2.7 2.8 2.9 2.10 2.11 2.12 2.17 2.18 2.19 2.22 2.26 2.25 2.27 2.31 3.0',
    () =>
      spec('requests')({ python: '3.9', packages: ['pytest'], install: 'python -m pip install .' }),
  ),
  'pvlib/pvlib-python': versions('0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9', () =>
    spec('pvlib')({
      python: '3.9',
      packages: 'pandas scipy jupyter ipython matplotlib pytest flake8'.split(' '),
      install: 'python -m pip install -e .[all]',
    }),
  ),
  'pydata/xarray': versions('0.12 0.18 0.19 0.20 2022.03 2022.06 2022.09 2023.07 2024.05', () =>
    spec('xarray')({ python: '3.10', needs: conda }),
  ),
  'pydicom/pydicom': {
    ...versions('1.0 1.1 1.2 1.3', () => pydicom('3.6')),
    ...versions('1.4 2.0', () => pydicom('3.8')),
    ...versions('2.1 2.2', () => pydicom('3.9')),
    ...versions('2.3', () => pydicom('3.10')),
    ...versions('2.4 3.0', () => pydicom('3.11')),
  },
  'pylint-dev/astroid': versions('2.10 2.12 2.13 2.14 2.15 2.16 2.5 2.6 2.7 2.8 2.9 3.0', () =>
    spec('astroid')({ python: '3.9', packages: ['pytest'] }),
  ),
  'pylint-dev/pylint': {
    ...versions('2.8', () =>
      pylint({
        ...pylintFiles,
        packages: ['pyenchant==3.2'],
        prepare: [apt('libenchant-2-dev hunspell-en-us')],
      }),
    ),
    ...versions('2.9 2.10 2.11 2.13 2.14 2.15 2.16 2.17', () => pylint(pylintFiles)),
    ...versions('3.0 3.1 3.2 3.3 4.0', () =>
      pylint({ ...pylintFiles, packages: ['astroid==3.0.0a6', 'setuptools'] }),
    ),
  },
  'pyvista/pyvista': {
    ...versions('0.20 0.21 0.22 0.23', () =>
      spec('pyvista')({ python: '3.9', packages: ['pytest'] }),
    ),
    ...versions(
      '0.24 0.25 0.26 0.27 0.28 0.29 0.30 0.31 0.32 0.33 0.34 0.35 0.36 0.37 0.38 0.39 0.40 0.41 0.42 0.43',
      () =>
        spec('pyvista')({
          python: '3.9',
          requirements: ['requirements_test.txt', 'requirements.txt'],
          packages: ['pytest'],
          prepare: [apt('ffmpeg libsm6 libxext6 libxrender1')],
        }),
    ),
  },
  'scikit-learn/scikit-learn': {
    ...versions('0.20 0.21 0.22', () =>
      spec('scikit')({
        python: '3.6',
        packages: 'numpy==1.19.2 scipy==1.5.2 cython pytest pandas matplotlib setuptools'.split(
          ' ',
        ),
        install: sklearnInstall,
      }),
    ),
    ...versions('1.3 1.4 1.5 1.6', () =>
      spec('scikit')({
        python: '3.9',
        packages:
          'numpy==1.19.2 scipy==1.5.2 cython==3.0.10 pytest pandas<2.0.0 matplotlib<3.9.0 setuptools joblib threadpoolctl'.split(
            ' ',
          ),
        install: sklearnInstall,
      }),
    ),
  },
  'sqlfluff/sqlfluff': versions(
    '0.10 0.11 0.12 0.13 0.4 0.5 0.6 0.8 0.9 1.0 1.1 1.2 1.3 1.4 2.0 2.1 2.2',
    () => spec('sqlfluff')({ python: '3.9', requirements: ['requirements_dev.txt'] }),
  ),
  'sympy/sympy': {
    ...versions('0.7 1.0 1.1 1.10 1.11 1.12 1.2 1.4 1.5 1.6 1.7 1.8 1.9', () =>
      sympy({ python: '3.9', packages: ['mpmath==1.3.0', 'flake8', 'flake8-comprehensions'] }),
    ),
    ...versions('1.13 1.14', () =>
      sympy({
        python: '3.9',
        requirements: ['requirements-dev.txt', 'requirements-test.txt'],
        packages: ['mpmath==1.3.0'],
      }),
    ),
  },
};
