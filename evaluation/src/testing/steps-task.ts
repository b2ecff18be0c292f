/** A task of two steps in Harbor’s format, which ends after the first one below its threshold. */
export const stepsTask = {
  'task.toml': `[[steps]]
name = "one"
min_reward = {ok = 0.5}
[[steps]]
name = "two"
[steps.verifier.env]
WANTED = "prepared"
[steps.healthcheck]
command = "test -f /app/ready"
`,
  'tests/check.sh':
    'reward() { echo "{\\"reward\\": $1, \\"ok\\": $2}" > /logs/verifier/reward.json; }\n',
  'steps/one/instruction.md': 'Make a.\n',
  'steps/one/solution/solve.sh': 'touch /app/a\n',
  'steps/one/tests/test.sh':
    '. /tests/check.sh; [ -f /app/a ] && reward 1 1 || { [ -f /app/b ] && reward 0 0.5 || reward 0 0.25; }\n',
  'steps/two/instruction.md': 'Go on.\n',
  'steps/two/workdir/setup.sh': 'echo prepared > made; touch ready; rm -- "$0"\n',
  'steps/two/solution/solve.sh': 'cp made kept\n',
  'steps/two/tests/test.sh':
    '. /tests/check.sh; [ -f /app/a ] && [ ! -e /app/setup.sh ] && grep -q "$WANTED" kept && reward 1 1 || reward 0 1\n',
};
