import { AppError, planProgress } from '@belay/protocol';
import { decode, encode } from '../../libs/rpc/dist/frame.js';
import { headerBytes } from '../../libs/rpc/dist/message.js';
import { htmlText, htmlTitle } from '../../apps/agent/dist/web/html-text.js';
import { screenText } from '../../apps/agent/dist/terminal/scrollback-text.js';
import { ruleMatches } from '../../libs/protocol/dist/rule-matches.js';
import { isPublicAddress } from '../../libs/host/dist/public-address.js';
import { normalHost } from '../../apps/server/dist/egress/policy.js';
import { parseScript } from '../../apps/server/dist/models/scripted/script.js';
import { readTags } from '../../apps/server/dist/models/tags/tag-parser.js';
import { goodBy, judgeInstance } from '../../evaluation/dist/suites/swe-bench/logs.js';
import { parsedInstance } from '../../evaluation/dist/suites/swe-bench/instance.js';
import { pytestSummary } from '../../evaluation/dist/suites/terminal-bench.js';
import { junitCounts } from '../../evaluation/dist/suites/test-reports.js';

/** A reader of hostile bytes. It may only return or reject them with an `AppError`. */
export interface Target {
  /** Compiled files whose coverage shows whether an input is new. */
  covers: RegExp;
  /** Initial inputs: typical ones, and those that once broke the reader. */
  seeds: readonly (string | Uint8Array)[];
  /** Throws if the reader violates its contract. */
  read(bytes: Buffer): void;
}

const instance = parsedInstance({
  repo: 'a/b',
  instance_id: 'a__b-1',
  problem_statement: '',
  FAIL_TO_PASS: ['a'],
  eval_script: '',
  log_parser: '',
});

export const targets: Record<string, Target> = {
  tags: {
    covers: /models\/tags\/tag-parser\.js$/,
    seeds: [
      '{{files.read("a.txt", limit=20)}}',
      'text {{ run( """ echo "x" """, [1, {"a": null}], true ) }} more',
      '{{x("unclosed',
    ],
    read: (bytes) => {
      const source = bytes.toString();
      const { text, tags } = readTags(source, (name) => name.length < 12);
      const all = text.length + tags.reduce((sum, tag) => sum + tag.source.length, 0);
      if (all !== source.length) throw new Error('Text was lost or doubled.');
    },
  },
  scripts: {
    covers: /models\/scripted\/script\.js$/,
    seeds: [
      'turns:\n  - say: hello\n    calls:\n      - operation: plan.write\n        input: {plan: "1. x"}\n  - finish: done\n',
      '{"pace": 0, "turns": [{"expect": "a.*b", "finish": {"summary": "s", "outcome": "failure"}}]}',
      'a: &a [*a]\nturns: *a\n',
      'turns: *a\n',
    ],
    read: (bytes) => void parseScript(bytes.toString(), 'fuzz.yaml'),
  },
  frames: {
    covers: /rpc\/dist\/(frame|binary-parts|json-text)\.js$/,
    seeds: [
      encoded({
        kind: 'call',
        id: '1',
        name: 'hello',
        input: { a: [1, { b: Buffer.from('b') }] },
      }),
      encoded({ kind: 'result', id: '1', output: null }),
      encoded({ kind: 'data', id: 'd1', bytes: Buffer.from('b') }),
      encoded({ kind: 'consumed', id: 'd1', total: 7 }),
    ],
    read: (bytes) => {
      const received = decoded(bytes);
      if (received && !received.fault) decode(encoded(received.frame));
    },
  },
  patterns: {
    covers: /protocol\/dist\/rule-matches\.js$/,
    seeds: [
      'npm test *\nnpm test -- x',
      'src/**\nsrc/../etc',
      '*\n',
      'a*b*c*d\naaaaabbbbbcccc',
      'a *\na',
    ],
    read: (bytes) => {
      const [pattern = '', ...rest] = bytes.toString().split('\n');
      const subject = rest.join('\n');
      for (const verdict of ['approved', 'rejected'] as const)
        for (const operation of ['terminal.run', 'files.write', 'web.fetch', 'mcp.a.b']) {
          const given = { operation, subject };
          const narrow = ruleMatches({ operation, pattern, verdict: 'approved' }, given);
          const wide = ruleMatches({ operation, pattern, verdict: 'rejected' }, given);
          if (narrow && !wide) throw new Error('What allows it would not refuse it.');
          ruleMatches({ operation, pattern, verdict }, given);
        }
    },
  },
  hosts: {
    covers: /(host\/dist\/public-address|egress\/policy)\.js$/,
    seeds: [
      'example.com',
      '[::ffff:127.0.0.1]',
      '0x7f.1',
      'xn--bcher-kva.example',
      '::1%lo',
      '.......',
    ],
    read: (bytes) => {
      const text = bytes.toString();
      const host = normalHost(text);
      if (host !== undefined && normalHost(host) !== host)
        throw new Error('A normal name is not its own normal form.');
      isPublicAddress(text);
    },
  },
  plans: {
    covers: /protocol\/dist\/plan\.js$/,
    seeds: ['- [ ] one\n- [x] two\n1. [ ] three', '1. one\n2. two', '\n\n\n- [', '* [X]\tx'],
    read: (bytes) => {
      const { steps, done } = planProgress(bytes.toString());
      if (done > steps || done < 0) throw new Error('More is done than there is.');
    },
  },
  pages: {
    covers: /web\/html-text\.js$/,
    seeds: [
      '<html><title>T</title><body><p>a <a href="/x">b</a><script>no</script><pre> x\n y</pre>',
      '<ul><li>1<li>2</ul>&amp;&#x26;&#999999999;<!-- x --><table><tr><td>1',
    ],
    read: (bytes) => {
      const page = bytes.toString();
      htmlText(page, 'http://example.com/a/');
      htmlTitle(page);
    },
  },
  screens: {
    covers: /terminal\/(scrollback-text|text-screen)\.js$/,
    seeds: [
      '\u001b[31mred\u001b[0m\r\n\u001b[2J\u001b[5;5Hx',
      'a\rb\b\bc\u001b]0;t\u0007',
      '\u009b1m',
    ],
    read: (bytes) => void screenText(bytes, 24),
  },
  logs: {
    covers: /suites\/(swe-bench\/logs|terminal-bench|test-reports)\.js$/,
    seeds: [
      '>>>>> Start Test Output\nPASSED tests/a.py::b\nFAILED c\n>>>>> End Test Output\n',
      '{\n  "stats": {},\n  "passes": [{"fullTitle": "a"}]\n}\n5 specs, 0 failures\n1) x\n',
      '{\n  "stats": {\n}\n',
      '<testsuite tests="3" failures="1" errors="0"><testcase/></testsuite>',
      '=== short test summary info ===\nPASSED a\nFAILED b - x\n=== 1 failed, 1 passed in 1s ===',
    ],
    read: (bytes) => {
      const output = bytes.toString();
      for (const parser of ['parse_log_pytest', 'parse_log_marked', 'parse_log_prismjs'])
        judgeInstance(
          { ...instance, log_parser: parser },
          { exitCode: 0, output: bracketed(output), files: new Map() },
        );
      pytestSummary(output);
      junitCounts(bytes);
      goodBy('pass_and_fail', { a: output.slice(0, 9) });
    },
  },
  instances: {
    covers: /suites\/swe-bench\/instance\.js$/,
    seeds: [
      JSON.stringify(instance),
      JSON.stringify({ ...instance, FAIL_TO_PASS: '["a"]', base_files: { 'a.py': 'x' } }),
      JSON.stringify({ ...instance, FAIL_TO_PASS: '["a"' }),
    ],
    read: (bytes) => {
      const line = parsedJson(bytes);
      if (line !== undefined) parsedInstance(line);
    },
  },
};

const bracketed = (log: string) => `>>>>> Start Test Output\n${log}\n>>>>> End Test Output`;

/** Only JSON reaches the reader. */
function parsedJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
}

function encoded(frame: Parameters<typeof encode>[0]): Buffer {
  return encode(frame).subarray(headerBytes);
}

/**
 * A frame that cannot be decoded makes the receiver close the connection; other errors are bugs of
 * the reader.
 */
function decoded(bytes: Buffer): ReturnType<typeof decode> | undefined {
  try {
    return decode(bytes);
  } catch (error) {
    if (error instanceof RangeError || error instanceof TypeError) throw error;
    return undefined;
  }
}

/** A reader rejects unreadable bytes with an `AppError`, because they are the sender’s fault. */
export const isRefusal = (error: unknown): boolean => error instanceof AppError;

/** Throws what the reader throws, except refusals. */
export function mustHold(target: Target, input: Buffer): void {
  try {
    target.read(input);
  } catch (error) {
    if (!isRefusal(error)) throw error;
  }
}
