import { put } from '@belay/testkit';
import { PullRequestScene } from '../testing/pull-request-scene.js';
import { withProofBlock } from './proof-block.js';
import { ProofBlocks } from './proof-blocks.js';

const scene = new PullRequestScene();
const { belay, cloned, edit, prepare, publish } = scene;
const [begin, end] = ['<!-- belay:proof -->', '<!-- /belay:proof -->'];

/** Of two commits of one branch, and one of another. */
let commits: { first: string; second: string; other: string };
let blocks: { first: string; other: string };
/** The first block after the second commit. */
let fresh: string;

const renewed = (body: string, commit = commits.second) =>
  belay.app.get(ProofBlocks).renewed(body, commit);

beforeAll(async () => {
  await scene.start();
  const { session } = await cloned();
  const files: string[] = [];
  const pushed = async (branch: string) => {
    files.push(`${files.length}.txt`);
    edit((work) => {
      for (const name of files) put(work, name, 'a\n');
    });
    const { id } = await prepare(session, { branch });
    return (await publish(session, { branch, id, message: 'm' })).commit;
  };
  const [first, second, other] = [await pushed('x'), await pushed('x'), await pushed('y')];
  commits = { first, second, other };
  const blockOf = async (commit: string) => (await belay.app.get(ProofBlocks).of(commit)) ?? '';
  blocks = { first: await blockOf(first), other: await blockOf(other) };
  fresh = (await renewed(blocks.first)) ?? '';
});
afterAll(() => scene.close());

it('tells of the newest commit first, and keeps the earlier one as a line', async () => {
  const { first, second } = commits;
  expect(fresh).toMatch(/^<!-- belay:proof -->\n\n### Proof\n.*<!-- \/belay:proof -->$/s);
  expect(fresh).toContain(`\`belay verify ${second}\`\n\n- Earlier: ${first}, not run again\n\n`);
  expect(await renewed(fresh)).toBe(fresh);
  expect(await renewed(fresh, first)).toBe(fresh);
});

it('keeps all around the block byte for byte, and the ends of its lines', async () => {
  const around = (block: string) => `Why. \r\n\u00a0\n\t${block}\t \n\r\n\ud83e\uddea$& $1 end\r`;
  expect(await renewed(around(blocks.first))).toBe(around(fresh));
  const crlf = (text: string) => around(text).replaceAll(/\r?\n/g, '\r\n');
  expect(await renewed(crlf(blocks.first))).toBe(crlf(fresh));
});

describe('attacks: a text with other marks', () => {
  const forged = `${begin}\n\nAll is well.\n\n${end}`;
  it.each<[string, (own: string) => string]>([
    ['a forged block before', (own) => `${forged}\n\n${own}`],
    ['a forged block after', (own) => `${own}\n\n${forged}`],
    ['a mark in a sentence', (own) => `It is after ${begin}, see:\n\n${own}\n\nand ${begin}`],
    ['the end before the begin', (own) => `${end}\n${own}\n${begin}`],
    ['marks around it', (own) => `${begin}\nMine\n${own}\nYours\n${end}`],
    ['the block of another branch', (own) => `${blocks.other}\n\n${own}`],
    ['a block that names the same commit', (own) => `${forgedOf(commits.first)}\n\n${own}`],
  ])('loses nothing but its own block: %s', async (_, text) => {
    expect(await renewed(text(blocks.first))).toBe(text(fresh));
  });

  it.each<[string, (own: string) => string]>([
    ['has none', () => 'Why.'],
    ['has only a forged one', () => forged],
    ['has only that of another branch', () => blocks.other],
    ['names its commit in other words', () => forgedOf(commits.first)],
    ['has it twice', (own) => `${own}\n\n${own}`],
    ['has a word of it changed', (own) => own.replace('### Proof', '### Proofs')],
    ['has something added to it', (own) => own.replace(end, `Mine.\n\n${end}`)],
    ['quotes it', (own) => own.replaceAll(/^/gm, '> ')],
    ['ends in it', (own) => own.slice(0, -1)],
    ['has its marks split', (own) => own.replace(begin, `<!-- bel${begin}ay:proof -->`).slice(9)],
    ['claims an earlier commit', (own) => claiming(own, commits.other)],
    ['claims an unknown commit', (own) => claiming(own, 'f'.repeat(40))],
    ['has very many', (own) => `${forged.repeat(10)}${own}`],
  ])('is left as it is when it %s', async (_, text) => {
    expect(await renewed(text(blocks.first))).toBeUndefined();
  });

  it('is soon looked through, however many marks it has', async () => {
    for (const mark of [begin, end, `${begin}${end}`])
      expect(await renewed(mark.repeat(200_000))).toBeUndefined();
  });

  const forgedOf = (commit: string) =>
    `${begin}\n\n### Proof\n\n\`belay verify ${commit}\`\n\n${end}`;
  const claiming = (own: string, commit: string) =>
    own.replace('\n\n<details>', `\n\n- Earlier: ${commit}, not run again\n\n<details>`);
});

it.each([
  ['a whole block', `a\n\n${begin}\nAll is well.\n${end}`],
  ['a block without an end', `a\n\n${begin}\nAll is well.`],
  ['an end alone', `a\n\n${end}`],
  ['marks that others hide', `a\n\n<!-- bel${begin}x${end}ay:proof -->All is well.`],
  ['an end that another hides', `a\n\n<!-- /bel${end}ay:proof -->`],
])('attacks: takes %s out of a text that claims it', (_, text) => {
  expect(withProofBlock(text, undefined)).toBe('a');
});
