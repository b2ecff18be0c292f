/** Exit codes of evaluate.sh that are not the tests'. */
export const patchRefused = 97;
export const setupFailed = 98;
export const testPatchRefused = 96;

/** As SWE-bench's harness records it. */
const exitMarker = '>>>>> Test Exit Code';

const startMarker = '>>>>> Start Test Output';
const endMarker = '>>>>> End Test Output';

/** The variable with this verification's own marker, which the script prints before its tests. */
export const ownMarkerName = 'BELAY_TESTS_START';

/** No patch can contain it, because the proof is made after the agent has ended. */
export const ownMarker = (hash = '{proof-hash}'): string => `>>>>> Start of tests ${hash}`;

/**
 * The line with the start marker, or -1. The last one before the end counts, because the test patch
 * in the script may contain the marker, too.
 */
export function startLineOf(lines: string[]): number {
  const end = lines.findLastIndex((line) => line.includes(endMarker));
  const before = lines.slice(0, end < 0 ? undefined : end);
  return before.findLastIndex((line) => line.includes(startMarker));
}

const testPatch = /^\s*git\s+apply\b.*<<-?\s*['"]?\w+['"]?\s*$/;

/**
 * Saves the exit code of the command before the end marker, and exits with it. Before the tests, it
 * runs the line `prepare` and prints the verification's own marker. Exits before the tests if the
 * test patch does not apply or `prepare` fails, because missing tests cannot fail.
 */
export function recordedExit(script: string, prepare?: string): string {
  const given = script
    .split('\n')
    .map((line) => (testPatch.test(line) ? `${line} || exit ${testPatchRefused}` : line));
  const start = startLineOf(given);
  const inserted = [
    ...(prepare ? [`${prepare} || exit ${testPatchRefused}`] : []),
    `echo "\${${ownMarkerName}-}"`,
  ];
  const lines = start < 0 ? given : given.toSpliced(start, 0, ...inserted);
  const at = lines.findLastIndex((line) => line.includes(endMarker));
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
