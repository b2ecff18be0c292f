import { shellWord } from '@belay/protocol';
import type { Instance } from './instance.js';
import type { RepositorySpec } from '../../repository-spec.js';
import { testTargets } from './paths.js';
import { specOf, type SpecLookup } from './specs.js';

/** An instance with its evaluation script and parser. */
export interface RunnableInstance extends Instance {
  eval_script: string;
  log_parser: string;
}

export interface Completed {
  instance: RunnableInstance;
  /** How its environment is built, for instances without a script. */
  setup: RepositorySpec['environment'] | null;
  /** Why it cannot be run at all, in one sentence. */
  unsupported: string | null;
}

/**
 * Classic lines of SWE-Bench contain only a repository and a version, from which its harness
 * derives the rest. Script and parser are made as the harness does; lines that have their own keep
 * them.
 */
export function completed(instance: Instance, lookup: SpecLookup = specOf): Completed {
  const { eval_script: script, log_parser: parser, repo, version } = instance;
  const spec = script === undefined || parser === undefined ? lookup(repo, version) : undefined;
  const whole = (given: string, name: string, type = instance.eval_type): RunnableInstance => ({
    ...instance,
    eval_script: script ?? given,
    log_parser: parser ?? name,
    eval_type: type,
  });
  if (script !== undefined && parser !== undefined)
    return { instance: whole(script, parser), setup: null, unsupported: null };
  if (!spec)
    return {
      instance: whole('', ''),
      setup: null,
      unsupported: `It has no eval_script, and there is no known environment for ${repo} ${version || 'without a version'}.`,
    };
  const commands = commandsOf(instance, spec);
  const fault =
    commands.length === 0
      ? `Its tests need ${spec.environment.needs ?? 'files that its test patch does not name'}. Use data with an eval_script, and its image.`
      : /^Binary files .* differ\r?$/m.test(instance.test_patch)
        ? 'Its test patch has binary files, which are not in the data.'
        : null;
  return {
    instance: whole(scriptOf(instance, spec, commands), spec.logParser, spec.evalType),
    setup: spec.environment,
    unsupported: fault,
  };
}

/** Names of files that are not tests, by SWE-Bench's rules. */
const noTest = /(\.(json|png|txt|md|jpg|jpeg|pkl|yml|yaml|toml)|csv)$/;

function commandsOf(instance: Instance, { test, environment }: RepositorySpec): string[] {
  const all = testTargets(instance);
  // Commands for JavaScript are also made from snapshots and fixtures. Python's runners run the
  // whole suite if the test patch names no test.
  const files = 'python' in environment ? all.filter((file) => !noTest.test(file)) : all;
  if (typeof test === 'function') return test(files, instance.version);
  return [[test, ...files.map(shellWord)].join(' ')];
}

/** A word that the patch does not contain. */
function endOf(patch: string): string {
  let word = 'EOF_114329324912';
  while (patch.includes(word)) word += '0';
  return word;
}

/**
 * SWE-Bench's evaluation script, for its own image or one that was built here. Installs the tested
 * code again, because a patch may change files that are built or copied, and only with installed
 * tools, because there may be no network.
 */
function scriptOf(instance: Instance, spec: RepositorySpec, commands: string[]): string {
  const { test_patch: patch } = instance;
  const end = endOf(patch);
  const { environment, before = [] } = spec;
  const install = 'python' in environment ? (environment.install ?? ':') : ':';
  return [
    '#!/bin/bash',
    'set -uxo pipefail',
    'if [ -f /opt/miniconda3/bin/activate ]; then set +u; source /opt/miniconda3/bin/activate; conda activate testbed; set -u; fi',
    'if [ -f "${NVM_DIR:-/usr/local/nvm}/nvm.sh" ]; then set +u; source "${NVM_DIR:-/usr/local/nvm}/nvm.sh"; set -u; fi',
    'cd /testbed',
    ...before,
    'export PIP_NO_INDEX=1 PIP_NO_DEPS=1 PIP_NO_BUILD_ISOLATION=false',
    install,
    `git apply -v - <<'${end}'`,
    `${patch.replace(/\n$/, '')}`,
    end,
    ": '>>>>> Start Test Output'",
    commands.join(' ; '),
    ": '>>>>> End Test Output'",
    '',
  ].join('\n');
}
