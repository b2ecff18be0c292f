import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BelayClient } from '@belay/client';
import { pause } from '@belay/testing';
import type { LineOutput } from '../output.js';
import { planWorkspace } from './plan-workspace.js';
import { copied, sendWorkspace } from './send-workspace.js';

const plan = { files: 39_126, bytes: 853 * 2 ** 20 };

it.each([
  [{ files: 0, bytes: 0 }, 'Copying ░░░░░░░░░░░░░░░░░░░░ 0 B of 853 MiB, 0 of 39,126 files'],
  [
    { files: 20_001, bytes: 426.5 * 2 ** 20 },
    'Copying ██████████░░░░░░░░░░ 426.5 MiB of 853 MiB, 20,001 of 39,126 files',
  ],
  // Files may grow after they were counted.
  [
    { files: 39_126, bytes: 900 * 2 ** 20 },
    'Copying ████████████████████ 900 MiB of 853 MiB, 39,126 of 39,126 files',
  ],
])('shows a bar and numbers of %j', (packed, text) => expect(copied(packed, plan)).toBe(text));

it('shows a workspace without bytes as done', () =>
  expect(copied({ files: 1, bytes: 0 }, { files: 1, bytes: 0 })).toMatch(/^Copying █{20} 0 B/));

describe('while it is sent', () => {
  const folder = mkdtempSync(join(tmpdir(), 'belay-send-'));
  const { isTTY } = process.stderr;
  afterAll(() => rmSync(folder, { recursive: true }));
  afterEach(() => {
    process.stderr.isTTY = isTTY;
    jest.restoreAllMocks();
  });

  /** What a terminal shows meanwhile, and the lines that stay. */
  async function shownIn(terminal: boolean): Promise<{ drawn: string; lines: string[] }> {
    writeFileSync(join(folder, 'a.bin'), Buffer.alloc(4 * 2 ** 20));
    writeFileSync(join(folder, 'b.bin'), Buffer.alloc(4 * 2 ** 20));
    const plan = await planWorkspace(folder, { maxBytes: 2 ** 30 });
    let drawn = '';
    process.stderr.isTTY = terminal;
    jest.spyOn(process.stderr, 'write').mockImplementation((text) => {
      drawn += String(text);
      return true;
    });
    const lines: string[] = [];
    const progress = { line: (text: string) => void lines.push(text) } as unknown as LineOutput;
    const drawnNow = () => pause(250, 'the line is drawn ten times a second');
    const toSession = async (_id: string, content: ReadableStream<Uint8Array>): Promise<void> => {
      let chunks = 0;
      for await (const _ of content) if (++chunks === 8) await drawnNow();
      await drawnNow();
    };
    const client = { uploads: { toSession } } as unknown as BelayClient;
    await sendWorkspace(plan, { client, id: 's', progress });
    return { drawn, lines };
  }

  it('a terminal has a bar that fills, and takes it away', async () => {
    const { drawn } = await shownIn(true);
    expect(drawn).toMatch(/Copying █+░+ .* of 8 MiB, \d of 2 files/);
    expect(drawn).toMatch(/Copying █{20} 8 MiB of 8 MiB, 2 of 2 files/);
    expect(drawn.split('\r').at(-1)).not.toContain('Copying');
  });

  it('a log has one line', async () => {
    const { drawn, lines } = await shownIn(false);
    expect(drawn).toBe('');
    expect(lines).toEqual(['Copying 2 files (8 MiB) into the sandbox.']);
  });
});
