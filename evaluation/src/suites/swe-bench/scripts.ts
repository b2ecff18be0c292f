/** Exit codes of evaluate.sh that are not the tests'. */
export const patchRefused = 97;
export const setupFailed = 98;
export const testPatchRefused = 96;

/** As SWE-bench's harness records it. */
const exitMarker = '>>>>> Test Exit Code';

const endMarker = />>>>> End Test Output/;

const testPatch = /^\s*git\s+apply\b.*<<-?\s*['"]?\w+['"]?\s*$/;

/**
 * Saves the exit code of the command before the end marker, and exits with it. Exits before the
 * tests if the test patch does not apply, because missing tests cannot fail.
 */
export function recordedExit(script: string): string {
  const lines = script
    .split('\n')
    .map((line) => (testPatch.test(line) ? `${line} || exit ${testPatchRefused}` : line));
  const at = lines.findIndex((line) => endMarker.test(line));
  if (at < 0) return script;
  const before = lines.slice(0, at);
  const [end = '', ...after] = lines.slice(at);
  const code = before.some((line) => line.startsWith('SWEBENCH_TEST_EXIT_CODE='))
    ? '$SWEBENCH_TEST_EXIT_CODE'
    : '$?';
  const printed = after.some((line) => line.includes(exitMarker));
  return [
    ...before,
    `belay_code=${code}`,
    end,
    ...(printed ? [] : [`echo "${exitMarker}: $belay_code"`]),
    ...after,
    'exit $belay_code',
    '',
  ].join('\n');
}
