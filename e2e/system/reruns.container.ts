import { randomBytes } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { labels, type DockerHost } from '@belay/containers';
import { PrivateRepository } from '@belay/host';
import type { Reproduction } from '@belay/protocol';
import { itLong, sampled } from '@belay/testing';
import { docker, prepared, removeSandboxes } from '@belay/testkit';
import { ContainerDials } from '../../apps/server/src/containers/container-dials.js';
import type { EgressService } from '../../apps/server/src/egress/egress.service.js';
import { BlobStore } from '../../apps/server/src/logs/blob-store.js';
import { ContainedPrograms } from '../../apps/server/src/programs/contained-programs.js';
import { Reruns, type WantedReruns } from '../../apps/server/src/proof/reruns/reruns.js';
import { RerunSandboxes } from '../../apps/server/src/proof/reruns/rerun-sandboxes.js';
import { TestLogs } from '../../apps/server/src/testing/logs.js';
import { dockerHostFor } from './hosts/docker-host-for.js';

const session = 's1';
const testFile = 'test/add.test.js';
const check = 'node --test';
const test = (body: string): string =>
  `const { test } = require('node:test');\nconst assert = require('node:assert');\n${body}`;
const adds = test(
  `const { add } = require('../src/add.js');\ntest('adds', () => assert.equal(add(1, 2), 3));\n`,
);
const base = {
  'src/add.js': 'exports.subtract = (a, b) => a - b;\n',
  'test/old.test.js': test(
    `const { subtract } = require('../src/add.js');\ntest('subtracts', () => assert.equal(subtract(3, 2), 1));\n`,
  ),
  // A git archive would leave out these, which a test needs.
  '.gitattributes': 'src export-ignore\ntest export-ignore\n',
};
const fixed = `${base['src/add.js']}exports.add = (a, b) => a + b;\n`;

describe('reruns in real sandboxes', () => {
  const data = mkdtempSync(join(tmpdir(), 'reruns-'));
  const logs = new TestLogs();
  let host: DockerHost;
  let repository: PrivateRepository;
  let reruns: Reruns;
  let blobs: BlobStore;
  let baseTree: string;

  beforeAll(async () => {
    await logs.open({ BELAY_MEMORY_MB: '512', BELAY_IMAGE: prepared('BELAY_TEST_IMAGE') });
    await logs.session(session, { check });
    const instance = randomBytes(4).toString('hex');
    host = dockerHostFor(instance, { folder: data, labels: { [labels.data]: data } });
    const programs = new ContainedPrograms(host, new ContainerDials(host));
    const sandboxes = new RerunSandboxes(logs.config, programs, {} as EgressService);
    blobs = new BlobStore(logs.config, logs.database, logs.objects);
    reruns = new Reruns(logs.config, host, sandboxes, blobs, logs.log);
    repository = await PrivateRepository.create();
    baseTree = await treeOf(base);
  });
  afterAll(async () => {
    await repository.remove();
    await host.close();
    await removeSandboxes(data);
    await logs.close();
  });
  afterEach(async () => {
    const filters = { label: [`${labels.data}=${data}`] };
    expect(await docker.listContainers({ all: true, filters })).toEqual([]);
  });

  async function treeOf(files: Record<string, string>): Promise<string> {
    const environment = { GIT_INDEX_FILE: join(repository.folder, 'spec.index') };
    await repository.run(['read-tree', '--empty'], { environment });
    const entries: string[] = [];
    for (const [path, text] of Object.entries(files))
      entries.push(`100644 ${await repository.addBlob(Buffer.from(text))}\t${path}\0`);
    const input = Buffer.from(entries.join(''));
    await repository.run(['update-index', '-z', '--index-info'], { environment, input });
    return (await repository.run(['write-tree'], { environment })).output.toString().trim();
  }

  async function rerun(
    change: Record<string, string>,
    reproduction: Partial<Reproduction> = {},
    more: Partial<WantedReruns> = {},
  ) {
    const report = await reruns.run(
      {
        session,
        repository,
        base: baseTree,
        result: await treeOf({ ...base, ...change }),
        reproduction: {
          command: `node --test ${testFile}`,
          files: [testFile],
          expects: 'TypeError: add is not a function',
          ...reproduction,
        },
        ...more,
      },
      new AbortController().signal,
    );
    const [claim, ofCheck] = report.claims;
    if (claim?.claim !== 'reproduction') throw new Error('no claim');
    return { ...report, claim, ofCheck };
  }

  async function judge(...wanted: Parameters<typeof rerun>) {
    const { ofCheck, ...report } = await rerun(...wanted);
    if (ofCheck?.claim !== 'check') throw new Error('no check');
    return { ...report, ofCheck };
  }

  /** The verdict on the test alone: without the sandboxes of a check. */
  const judgeTest = async (
    change: Record<string, string>,
    reproduction: Partial<Reproduction> = {},
    more: Partial<WantedReruns> = {},
  ) => (await rerun(change, reproduction, { ...more, check: null })).claim;

  it('confirm a real fix, and keep what was run', async () => {
    const { claim, ofCheck, image } = await judge({ 'src/add.js': fixed, [testFile]: adds });
    expect(claim).toMatchObject({ verdict: 'confirmed', command: `node --test ${testFile}` });
    expect(
      claim.runs.map(({ on, exitCode, isReasonPrinted }) => [on, exitCode, isReasonPrinted]),
    ).toEqual([
      ['base+tests', 1, true],
      ['result', 0, false],
      ['base+tests', 1, true],
      ['result', 0, false],
    ]);
    expect(ofCheck).toMatchObject({
      verdict: 'confirmed',
      why: 'The check passes before the change and with it.',
    });
    expect(image.id).toMatch(/^sha256:[0-9a-f]{64}$/);
    const [first] = claim.runs;
    const output = await blobs.getOf(session, first?.output ?? '');
    expect(output.bytes.toString()).toContain('TypeError: add is not a function');
  });

  it.each(
    sampled(1, [
      [
        'a test that passes without the change',
        { 'src/add.js': fixed, [testFile]: base['test/old.test.js'] },
      ],
      ['an emptied test', { 'src/add.js': fixed, [testFile]: test('') }],
      ['a test that the change does not fix', { [testFile]: adds }],
    ]),
  )('refute %s', async (_, change) => {
    expect(await judgeTest(change)).toMatchObject({ verdict: 'refuted' });
  });

  it('do not take a command that looks at the change for a test', async () => {
    const command =
      'grep -q add src/add.js || { echo "TypeError: add is not a function"; exit 1; }';
    const claim = await judgeTest({ 'src/add.js': fixed, [testFile]: adds }, { command });
    expect(claim).toMatchObject({
      verdict: 'inconclusive',
      why: expect.stringContaining('a command, not a test') as string,
    });
    expect(claim.runs.map(({ exitCode }) => exitCode)).toEqual([1, 0]);
  });

  itLong('do not confirm a test that reads the clock, or the commit', async () => {
    const until = (when: string) =>
      test(`test('x', () => { if (${when}) throw new TypeError('add is not a function'); });\n`);
    const soon = until(`Date.now() < ${Date.now() + 4_000}`);
    expect((await judgeTest({ [testFile]: soon })).verdict).not.toBe('confirmed');
    const log = `require('node:child_process').execSync('/opt/belay/git log --format=%an%s%ad').toString()`;
    const byCommit = until(`!${log}.includes('Rerun')`);
    const change = { 'src/add.js': fixed, [testFile]: byCommit };
    expect((await judgeTest(change)).verdict).toBe('refuted');
  });

  itLong('do not confirm a change of the runner in the place of a fix', async () => {
    const runner = { 'package.json': '{"scripts":{"test":"node --test"}}' };
    const claim = await judgeTest(
      { 'package.json': '{"scripts":{"test":"true"}}', [testFile]: adds },
      { command: `npm test -- ${testFile}` },
      { base: await treeOf({ ...base, ...runner }) },
    );
    expect(claim).toMatchObject({
      verdict: 'inconclusive',
      why: expect.stringContaining('not one that passes') as string,
    });
  });

  itLong('run with what a setup made, and say why one failed', async () => {
    const uses = test(
      `const { add } = require('../src/add.js');\ntest('adds', () => assert.equal(add(1, 2), require('three')));\n`,
    );
    const made = { hosts: [], paths: ['node_modules'], seconds: 60 };
    const command =
      'mkdir -p node_modules/three && echo "module.exports = 3" > node_modules/three/index.js';
    const change = { 'src/add.js': fixed, [testFile]: uses };
    expect((await judgeTest(change)).verdict).toBe('inconclusive');
    const setup = { ...made, command };
    const set = await judge(change, {}, { setup });
    expect([set.claim.verdict, set.settings]).toEqual(['confirmed', { setup }]);
    for (const [failing, why] of [
      ['echo no such package; exit 7', 'exit code 7, after it had printed “no such package”'],
      ['true', 'did not make all of node_modules'],
      ['mkdir node_modules && truncate -s 1G node_modules/big', 'What the setup made does not fit'],
    ] as const) {
      const { claim, ofCheck } = await judge(change, {}, { setup: { ...made, command: failing } });
      for (const { verdict, why: reason } of [claim, ofCheck])
        expect([verdict, reason]).toEqual(['inconclusive', expect.stringContaining(why)]);
    }
  });

  itLong('give no network and no rights, and end what takes or prints too much', async () => {
    const end = async (command: string, more: Partial<WantedReruns> = {}) => {
      const change = { 'src/add.js': fixed, [testFile]: adds };
      return (await judgeTest(change, { command }, more)).runs.at(0);
    };
    const inside = `ls -A /sys/class/net; id -u; cat /proc/self/status | grep CapEff; touch /opt/x; kill -9 1; git status --short; exit 3`;
    const look = await end(inside);
    expect(look?.exitCode).toBe(3);
    const { bytes } = await blobs.getOf(session, look?.output ?? '');
    expect(bytes.toString()).toMatch(/^lo\n1000\nCapEff:\s0+\n.*Read-only.*\n/s);
    expect(await end('sleep 1000', { seconds: 1 })).toMatchObject({
      exitCode: null,
      problem: 'it took longer than 1s',
    });
    expect(await end('yes')).toMatchObject({ problem: 'it printed more than 1 MiB' });
    expect(await end('head -c 400M /dev/zero > big')).toMatchObject({ exitCode: 1 });
  });
});
