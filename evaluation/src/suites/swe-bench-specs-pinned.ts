import { versions, type RepositorySpec, type SpecsByVersion } from '../repository-spec.js';

/** Repositories whose packages differ by version in many places. */
const pytest = (pins: string, prepare?: string[]): RepositorySpec => ({
  environment: {
    python: '3.9',
    install: 'python -m pip install -e .',
    packages: pins.split(' '),
    ...(prepare && { prepare }),
  },
  test: 'pytest -rA',
  logParser: 'parse_log_pytest',
});

const pytest4 = (pluggy: string, more: string) =>
  pytest(
    `atomicwrites==1.4.1 attrs==23.1.0 more-itertools==10.1.0 pluggy==${pluggy} py==1.11.0 ${more}`,
  );
const pytest5 = 'attrs==23.1.0 more-itertools==10.1.0 packaging==23.1 pluggy==0.13.1 py==1.11.0';
const pytest6 = 'attrs==23.1.0 iniconfig==2.0.0 packaging==23.1 pluggy==0.13.1 py==1.11.0';

const sed = (text: string) => `sed -i '${text}' setup.py`;
const capped = (name: string, least: string, most: string) =>
  sed(`s/${name}${least}/${name}${least}${least ? ',' : ''}<=${most}/`);
const either = (name: string, least: string, most: string) =>
  `grep -q '${name}${least}' setup.py && ${capped(name, least, most)} || ${capped(name, '', most)}`;

const sphinx3 = [
  sed('s/Jinja2>=2.3/Jinja2<3.0/'),
  capped('sphinxcontrib-applehelp', '', '1.0.7'),
  capped('sphinxcontrib-devhelp', '', '1.0.5'),
  capped('sphinxcontrib-qthelp', '', '1.0.6'),
  sed('s/alabaster>=0.7,<0.8/alabaster>=0.7,<0.7.12/'),
  `sed -i "s/'packaging',/'packaging', 'markupsafe<=2.0.1',/" setup.py`,
];
const html = 'sphinxcontrib-htmlhelp';
const serializing = 'sphinxcontrib-serializinghtml';
const graphviz = 'apt-get update && apt-get install -y graphviz';

const sphinx = (more: string[] = [], python = '3.9'): RepositorySpec => ({
  environment: {
    python,
    packages: ['tox==4.16.0', 'tox-current-env==0.0.11', 'Jinja2==3.0.3'],
    install: 'python -m pip install -e .[test]',
    prepare: ["sed -i 's/pytest/pytest -rA/' tox.ini", ...more],
  },
  test: 'tox --current-env -epy39 -v --',
  logParser: 'parse_log_sphinx',
});

const astropy = (
  python: string,
  packages: string,
  { prepare, test = 'pytest -rA' }: { prepare?: string[]; test?: string } = {},
): RepositorySpec => ({
  environment: {
    python,
    packages: packages.split(' '),
    install: 'python -m pip install -e .[test] --verbose',
    ...(prepare && { prepare }),
  },
  test,
  logParser: 'parse_log_astropy',
});

const astropy3 =
  'attrs==23.1.0 exceptiongroup==1.1.3 execnet==2.0.2 hypothesis==6.82.6 iniconfig==2.0.0 numpy==1.25.2 packaging==23.1 pluggy==1.3.0 psutil==5.9.5 pyerfa==2.0.0.3 pytest-arraydiff==0.5.0 pytest-astropy-header==0.2.2 pytest-astropy==0.10.0 pytest-cov==4.1.0 pytest-doctestplus==1.0.0 pytest-filter-subpackage==0.1.2 pytest-mock==3.11.1 pytest-openfiles==0.5.0 pytest-remotedata==0.4.0 pytest-xdist==3.3.1 pytest==7.4.0 PyYAML==6.0.1 setuptools==68.0.0 sortedcontainers==2.4.0 tomli==2.0.1';
const astropy1 =
  'setuptools==38.2.4 attrs==17.3.0 exceptiongroup==0.0.0a0 execnet==1.5.0 hypothesis==3.44.2 cython==0.27.3 jinja2==2.10 MarkupSafe==1.0 numpy==1.16.0 packaging==16.8 pluggy==0.6.0 psutil==5.4.2 pyerfa==1.7.0 pytest-arraydiff==0.1 pytest-astropy-header==0.1 pytest-astropy==0.2.1 pytest-cov==2.5.1 pytest-doctestplus==0.1.2 pytest-filter-subpackage==0.1 pytest-forked==0.2 pytest-mock==1.6.3 pytest-openfiles==0.2.0 pytest-remotedata==0.2.0 pytest-xdist==1.20.1 pytest==3.3.1 PyYAML==3.12 sortedcontainers==1.5.9 tomli==0.2.0';
const setuptools68 = [
  String.raw`sed -i 's/requires = \["setuptools",/requires = \["setuptools==68.0.0",/' pyproject.toml`,
];

export const pinnedSpecs: Record<string, SpecsByVersion> = {
  'astropy/astropy': {
    ...versions('0.1 0.2 0.3 0.4 1.1 1.2 1.3', () =>
      astropy('3.6', astropy1, {
        test: 'pytest -rA -vv -o console_output_style=classic --tb=no',
      }),
    ),
    ...versions('3.0 3.1 3.2', () => astropy('3.9', astropy3)),
    ...versions('4.1 4.2 4.3 5.0 5.1 5.2', () =>
      astropy('3.9', astropy3, { prepare: setuptools68 }),
    ),
    ...versions('v5.3', () => astropy('3.10', astropy3, { prepare: setuptools68 })),
  },
  'pytest-dev/pytest': {
    ...versions('4.4', () => pytest4('0.13.1', 'setuptools==68.0.0 six==1.16.0')),
    ...versions('4.5', () => pytest4('0.11.0', 'setuptools==68.0.0 six==1.16.0 wcwidth==0.2.6')),
    ...versions('4.6', () => pytest4('0.13.1', 'packaging==23.1 six==1.16.0 wcwidth==0.2.6')),
    ...versions('5.0 5.1 5.2', () => pytest4('0.13.1', 'packaging==23.1 wcwidth==0.2.6')),
    ...versions('5.3', () => pytest(`${pytest5} wcwidth==0.2.6`)),
    ...versions('5.4', () => pytest(pytest5)),
    ...versions('6.0', () => pytest(`${pytest6} more-itertools==10.1.0 toml==0.10.2`)),
    ...versions('6.2', () => pytest(`${pytest6} toml==0.10.2`)),
    ...versions('6.3', () => pytest(`${pytest6} toml==0.10.2`, ["sed -i 's/>=>=/>=/' setup.cfg"])),
    ...versions('7.0', () => pytest(pytest6)),
    ...versions('7.1 7.2', () => pytest(`${pytest6} tomli==2.0.1`)),
    ...versions('7.4 8.0 8.1 8.2 8.3 8.4', () =>
      pytest('iniconfig==2.0.0 packaging==23.1 pluggy==1.3.0 exceptiongroup==1.1.3 tomli==2.0.1'),
    ),
  },
  'sphinx-doc/sphinx': {
    ...versions('1.5 1.6 1.7 1.8 2.0 2.1 2.2 2.3 2.4 4.5 5.0 5.1 5.2 5.3 6.0 6.2 7.0 7.1', () =>
      sphinx(),
    ),
    ...versions('3.0 3.1 3.2 3.3 3.4 3.5 4.0', () =>
      sphinx([...sphinx3, capped(html, '', '2.0.4'), capped(serializing, '', '1.1.9')]),
    ),
    ...versions('4.1', () =>
      sphinx([
        ...sphinx3,
        either(html, '>=2.0.0', '2.0.4'),
        either(serializing, '>=1.1.5', '1.1.9'),
      ]),
    ),
    ...versions('4.2 4.3 4.4', () =>
      sphinx([
        ...sphinx3,
        capped(html, '>=2.0.0', '2.0.4'),
        capped(serializing, '>=1.1.5', '1.1.9'),
      ]),
    ),
    ...versions('7.2 7.3 7.4', () => sphinx([graphviz])),
    ...versions('8.0 8.1', () => sphinx([graphviz], '3.10')),
  },
};
