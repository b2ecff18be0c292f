import {
  statementType,
  testResultType,
  type ChangeStatement,
  type JudgedClaim,
  type RerunVerdict,
  type TestResultStatement,
} from '@belay/protocol';

/** What was run again for a change, in the standard form that other tools read; undefined if nothing was. */
export function testResultOf({
  subject,
  predicate: { reruns, record },
}: ChangeStatement): TestResultStatement | undefined {
  if (!reruns) return undefined;
  const { image, claims } = reruns;
  const named = (verdict: RerunVerdict): string[] =>
    claims.filter((claim) => claim.verdict === verdict).map(nameOf);
  const [passedTests, warnedTests, failedTests] = [
    named('confirmed'),
    named('inconclusive'),
    named('refuted'),
  ];
  const unlessFailed = warnedTests.length > 0 ? 'WARNED' : 'PASSED';
  return {
    _type: statementType,
    subject,
    predicateType: testResultType,
    predicate: {
      result: failedTests.length > 0 ? 'FAILED' : unlessFailed,
      configuration: [
        { name: 'record', digest: record },
        { name: image.name, digest: digestOf(image.id) },
      ],
      passedTests,
      warnedTests,
      failedTests,
    },
  };
}

const nameOf = ({ claim, command }: JudgedClaim): string => `${claim}: ${command}`;

/** Ids of images begin with their algorithm, as in `sha256:…`. */
function digestOf(id: string): Record<string, string> {
  const [, algorithm = 'id', value = id] = /^([a-z0-9]+):(.+)$/.exec(id) ?? [];
  return { [algorithm]: value };
}
