import {
  statementType,
  testResultStatement,
  type ChangeStatement,
  type JudgedClaim,
  type RerunReport,
  type RerunVerdict,
} from '@belay/protocol';
import { testResultOf } from './test-result-of.js';

const commit = { name: 'git', digest: { gitCommit: '1'.repeat(40) } };
const tree = { name: 'tree' as const, digest: { gitTree: '2'.repeat(40) } };
const record = { sha256: '3'.repeat(64) };
const about = (reruns: RerunReport | null): ChangeStatement =>
  ({
    _type: statementType,
    subject: [commit, tree],
    predicate: { reruns, record },
  }) as unknown as ChangeStatement;
const claimed = (verdict: RerunVerdict, command: string): JudgedClaim => ({
  claim: 'check',
  verdict,
  why: '',
  command,
  runs: [],
});
const reportOf = (...claims: JudgedClaim[]) => ({
  image: { name: 'node:24', id: `sha256:${'4'.repeat(64)}` },
  claims,
});

describe('the Test Result of a change', () => {
  it('is about the same commit, and names what was run where', () => {
    const result = testResultOf(about(reportOf(claimed('confirmed', 'npm test'))));
    expect(testResultStatement.parse(result)).toEqual({
      _type: 'https://in-toto.io/Statement/v1',
      subject: [commit, tree],
      predicateType: 'https://in-toto.io/attestation/test-result/v0.1',
      predicate: {
        result: 'PASSED',
        configuration: [
          { name: 'record', digest: record },
          { name: 'node:24', digest: { sha256: '4'.repeat(64) } },
        ],
        passedTests: ['check: npm test'],
        warnedTests: [],
        failedTests: [],
      },
    });
  });

  it.each<[RerunVerdict[], string]>([
    [['confirmed', 'confirmed'], 'PASSED'],
    [['confirmed', 'inconclusive'], 'WARNED'],
    [['inconclusive', 'refuted'], 'FAILED'],
    [['confirmed', 'refuted'], 'FAILED'],
  ])('of %p is %s', (verdicts, result) => {
    const claims = verdicts.map((verdict) => claimed(verdict, verdict));
    expect(testResultOf(about(reportOf(...claims)))?.predicate.result).toBe(result);
  });

  it('is none where nothing was run again', () => {
    expect(testResultOf(about(null))).toBeUndefined();
  });
});
