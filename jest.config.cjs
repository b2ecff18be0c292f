const { existsSync, readdirSync, readFileSync } = require('node:fs');
const { join } = require('node:path');
const { jsc } = require('./tools/swc-options.cjs');

const packages = join(__dirname, 'node_modules');

const isModule = (name) => {
  const file = join(packages, name, 'package.json');
  return existsSync(file) && JSON.parse(readFileSync(file, 'utf8')).type === 'module';
};

/**
 * The packages that are ES modules. They become CommonJS, as our own code does: Node's modules in contexts of their own
 * (`--experimental-vm-modules`) are never freed, and a worker whose heap is full of them collects garbage all the time.
 */
const modulePackages = readdirSync(packages)
  .flatMap((name) =>
    name.startsWith('@') ? readdirSync(join(packages, name)).map((one) => `${name}/${one}`) : name,
  )
  .filter(isModule);

const swc = (syntax) => [
  '@swc/jest',
  {
    isModule: 'unknown',
    sourceMaps: 'inline',
    jsc: { ...jsc, parser: { ...jsc.parser, syntax } },
    module: { type: 'commonjs' },
  },
];

/** One project for each part; `name` is what `npm run jest -- --selectProjects NAME` takes. */
const project = (name, root, more = {}) => ({
  displayName: name,
  rootDir: __dirname,
  // What is compiled is kept from run to run, whose temporary folders are their own.
  cacheDirectory: join(packages, '.cache', 'jest'),
  roots: [`<rootDir>/${root}`],
  testMatch: ['**/*.spec.ts', '**/*.spec.tsx'],
  testPathIgnorePatterns: ['/node_modules/', '/dist/', '/examples/'],
  modulePathIgnorePatterns: ['/dist/'],
  moduleNameMapper: {
    '^@belay/evaluation$': '<rootDir>/evaluation/src/index.ts',
    '^@belay/([a-z]+)$': '<rootDir>/libs/$1/src/index.ts',
    '^(\\.{1,2}/.*)\\.js$': '$1',
  },
  transform: { '\\.(ts|tsx)$': swc('typescript'), '\\.m?js$': swc('ecmascript') },
  transformIgnorePatterns: [`<rootDir>/node_modules/(?!(${modulePackages.join('|')})/|.*\\.mjs$)`],
  testEnvironment: 'node',
  ...more,
});

module.exports = {
  projects: [
    project('protocol', 'libs/protocol/src'),
    project('rpc', 'libs/rpc/src'),
    project('client', 'libs/client/src'),
    project('docker', 'libs/docker/src'),
    project('host', 'libs/host/src'),
    project('testing', 'libs/testing/src'),
    project('server', 'apps/server/src'),
    project('agent', 'apps/agent/src'),
    project('cli', 'apps/cli/src'),
    project('evaluation', 'evaluation/src'),
    project('web', 'apps/web/src', {
      testEnvironment: '<rootDir>/apps/web/src/testing/browser-environment.cjs',
      setupFilesAfterEnv: ['<rootDir>/apps/web/src/testing/timeouts.cjs'],
      moduleNameMapper: {
        '^@/lib/server$': '<rootDir>/apps/web/src/testing/server.ts',
        '^@belay/([a-z]+)$': '<rootDir>/libs/$1/src/index.ts',
        '^@/(.*)\\.js$': '<rootDir>/apps/web/src/$1',
        '^@/(.*)$': '<rootDir>/apps/web/src/$1',
        '^(\\.{1,2}/.*)\\.js$': '$1',
        '\\.css$': '<rootDir>/apps/web/src/lib/no-styles.cjs',
      },
    }),
    // The readers that are fuzzed are compiled ones.
    project('tools', 'tools', {
      moduleNameMapper: {},
      modulePathIgnorePatterns: [],
      testMatch: ['**/*.spec.mjs', '**/*.spec.ts'],
    }),
    // Real containers, from the outside: the built server, agent and images.
    project('containers', 'e2e/system', {
      testMatch: ['**/*.container.ts'],
    }),
    // The same, attacked from inside a sandbox and from outside the server.
    project('attacks', 'e2e/attacks', {
      testMatch: ['**/*.container.ts'],
    }),
    // The dashboard in a real Chromium.
    project('e2e', 'e2e/dashboard', {
      testMatch: ['**/*.e2e.ts'],
    }),
  ],
  // More than two cores have: most tests wait more than they compute.
  maxWorkers: 3,
  // What tests leave in a worker adds up; with so much, collecting garbage takes the processor from the others.
  workerIdleMemoryLimit: '600MB',
  // Of the tests of a file that may run at once: most of their time they wait for containers.
  maxConcurrency: 3,
  testSequencer: '<rootDir>/tools/slowest-first.cjs',
  // Ends what hangs. What a test waits for has limits of its own, which are shorter and say what did not come; a
  // machine that does much else takes its time.
  testTimeout: 300_000,
};
