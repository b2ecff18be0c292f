const { join } = require('node:path');

/** Test code may import anything: it stands above all layers. */
const tests = '(\\.(spec|s3)\\.tsx?$|/testing/)';

/**
 * The rules of one source folder. `rows` are its layers, the lowest first; each row is a list of folders or files
 * that may import each other's rows below, and nothing above. Everything in the folder must be named.
 */
function layers(root, rows) {
  const oneOf = (names) => `^${root}/(${names.join('|').replaceAll('.', '\\.')})(/|$)`;
  const upward = rows.slice(0, -1).map((row, at) => ({
    name: `${root}: ${row.join(', ')}`,
    comment: 'A layer imports only from those below it. Move the code down, or pass it in.',
    severity: 'error',
    from: { path: oneOf(row), pathNot: tests },
    to: { path: oneOf(rows.slice(at + 1).flat()) },
  }));
  const unnamed = {
    name: `${root}: every folder has a layer`,
    severity: 'error',
    from: { path: `^${root}/`, pathNot: [oneOf(rows.flat()), tests] },
    to: {},
  };
  return [...upward, unnamed];
}

/** Folders of one layer that do not import each other. */
const apart = (root, names) => ({
  name: `${root}: ${names.join(', ')} apart`,
  comment: 'Move what they share to a layer below.',
  severity: 'error',
  from: { path: `^${root}/(${names.join('|')})/`, pathNot: tests },
  to: { path: `^${root}/(${names.join('|')})/`, pathNot: `^${root}/$1/` },
});

const featuresOf = (names) => names.map((name) => `features/${name}`);
const panels = featuresOf([
  'browser',
  'changes',
  'chat',
  'code',
  'log',
  'planner',
  'terminal',
  'timeline',
  'usage',
]);
const pages = featuresOf([
  'actions',
  'automations',
  'compare',
  'evaluation',
  'fleet',
  'new-session',
  'session',
  'settings',
]);

/** What a package may import of this repository, besides itself. */
function packages(from, allowed) {
  const known = [from, ...allowed, 'libs/testing'].map((path) => `^${path}/`);
  return {
    name: `packages: ${from}`,
    comment: 'protocol ← rpc ← {server, agent, cli}, protocol ← client ← {web, cli, evaluation}.',
    severity: 'error',
    from: { path: `^${from}/`, pathNot: tests },
    to: { path: '^(apps|libs|evaluation|e2e)/', pathNot: known },
  };
}

/** Which imports are allowed; `npm run check:layers` enforces it. See docs/architecture.md. */
module.exports = {
  forbidden: [
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'no-unresolvable',
      comment: 'An import that is not found is one that no other rule sees.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true, path: '^(\\.|@/|@belay/)' },
    },
    packages('libs/protocol', []),
    packages('libs/rpc', ['libs/protocol']),
    packages('libs/client', ['libs/protocol']),
    packages('libs/containers', ['libs/protocol', 'libs/host', 'libs/rpc']),
    packages('libs/host', ['libs/protocol']),
    packages('libs/proof', ['libs/protocol']),
    packages('libs/testing', []),
    packages('libs/testkit', ['libs/protocol', 'libs/client', 'libs/containers']),
    packages('apps/server', [
      'libs/protocol',
      'libs/rpc',
      'libs/containers',
      'libs/host',
      'libs/proof',
    ]),
    packages('apps/agent', ['libs/protocol', 'libs/rpc']),
    packages('apps/web', ['libs/protocol', 'libs/client']),
    packages('apps/cli', [
      'libs/protocol',
      'libs/rpc',
      'libs/client',
      'libs/containers',
      'libs/host',
      'libs/proof',
      'evaluation',
    ]),
    packages('evaluation', ['libs/protocol', 'libs/client', 'libs/containers', 'libs/host']),
    ...layers('apps/server/src', [
      [
        'config.ts',
        'kubernetes-config.ts',
        's3-config.ts',
        'closed-network-config.ts',
        'variables.ts',
        'close-server.ts',
        'data-lock.ts',
        'end-by-signal.ts',
        'end-signals.ts',
        'end-with-code.ts',
        'is-web-socket.ts',
        'keep-connections.ts',
        'owner-labels.ts',
        'parsed-input.ts',
        'peer-config.ts',
        'refuse-on-socket.ts',
        'server-id.ts',
      ],
      ['storage', 'server-logger.ts'],
      ['containers'],
      ['access'],
      ['logs', 'settings', 'evaluations'],
      ['peers'],
      ['approvals'],
      ['egress'],
      ['git'],
      ['models'],
      ['programs'],
      ['mcp', 'transcripts'],
      ['actions', 'agents'],
      ['sandboxes'],
      ['sessions'],
      ['proof'],
      ['publishing'],
      ['automations'],
      ['api'],
      ['telemetry'],
      ['app.module.ts'],
      ['main.ts', 'testing'],
    ]),
    ...layers('apps/server/src/automations', [
      ['automation-counts.ts', 'clock.ts', 'clock.module.ts', 'jobs', 'schedule-words.ts'],
      ['definitions'],
      ['forges', 'run-record.ts', 'record-act.ts'],
      ['trust', 'out'],
      ['runs'],
      ['triggers', 'repository-files'],
      ['automation-changes.ts', 'automation-views.ts'],
      ['automations.module.ts'],
    ]),
    apart('apps/server/src/automations', ['definitions', 'forges']),
    apart('apps/server/src/automations', ['trust', 'out']),
    ...layers('apps/agent/src', [
      [
        'call-context.ts',
        'check-call.ts',
        'egress',
        'environment.ts',
        'bounded-event.ts',
        'event-writer.ts',
        'gateway',
        'on-orphaned.ts',
        'home-settings.ts',
        'known-file.ts',
        'layers',
        'likeness.ts',
        'memory-kills.ts',
        'nearest-operations.ts',
        'permissions.ts',
        'release-memory.ts',
        'server-connection.ts',
        'user-separation.ts',
        'with-package-tools.ts',
      ],
      ['find-program.ts'],
      [
        'browser',
        'dial-server.ts',
        'files',
        'guidance',
        'loop',
        'mcp',
        'outbox.ts',
        'plan',
        'system',
        'terminal',
        'web',
      ],
      ['agent-log.ts', 'agent-services.ts', 'approve-call.ts', 'history', 'workspace'],
      ['open-services.ts', 'operation-runner.ts'],
      ['drivers'],
      ['session-run.ts'],
      ['agent.ts'],
      ['contained', 'main.ts', 'rehearsal', 'testing'],
    ]),
    ...layers('evaluation/src', [
      [
        'asset-table.ts',
        'asset-text.ts',
        'entries.ts',
        'folder-name.ts',
        'is-in-session.ts',
        'lines.ts',
        'read-budget.ts',
        'refused.ts',
        'repository-spec.ts',
        'resource-semaphore.ts',
        'statistics.ts',
      ],
      ['model.ts', 'artifact-filter.ts', 'trial-places.ts', 'validity.ts'],
      ['engine', 'suites'],
      [
        'artifacts.ts',
        'compare.ts',
        'cost-limit.ts',
        'new-run.ts',
        'results',
        'run-refusal.ts',
        'tell-refused.ts',
      ],
      ['agents'],
      [
        'place-refusals.ts',
        'references.ts',
        'run.ts',
        'second-check.ts',
        'trial.ts',
        'verify.ts',
        'wrong-tests-check.ts',
      ],
      ['board', 'preflight.ts', 'regrade.ts'],
      ['evaluation.ts'],
      ['index.ts'],
    ]),
    ...layers('apps/web/src', [
      ['lib'],
      ['components'],
      ['features/session-log'],
      ['features/session-files'],
      ['features/session-controls'],
      panels,
      pages,
      ['app'],
      ['player'],
    ]),
    apart('apps/web/src', panels),
    apart('apps/web/src', pages),
    apart('apps/server/src/api', ['mcp', 'websocket', 'acp', 'dashboard']),
  ],
  options: {
    // TypeScript 7 has no API that a tool could parse with.
    parser: 'swc',
    // Imports of types count.
    tsPreCompilationDeps: true,
    doNotFollow: { path: ['node_modules', '/dist/'] },
    webpackConfig: { fileName: join(__dirname, 'tools/layers-resolve.cjs') },
    enhancedResolveOptions: {
      extensions: ['.ts', '.tsx', '.mjs', '.cjs', '.js', '.json'],
      exportsFields: ['exports'],
      conditionNames: ['import', 'types', 'default'],
    },
  },
};
