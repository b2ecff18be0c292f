import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { openFilesBelow } from '@belay/testing';
import { TerminalFiles } from './terminal-files.js';

describe('the files of terminals', () => {
  let data: string;
  beforeEach(() => (data = mkdtempSync(join(tmpdir(), 'terminals-'))));
  afterEach(() => rmSync(data, { recursive: true, force: true }));

  it('are whole and closed when they are forgotten while they are written', async () => {
    const files = new TerminalFiles({ data });
    const place = { session: 'one', terminal: 'main' };
    // The rest is not kept, and so is a hole.
    const piece = { ...place, kept: Buffer.alloc(2 ** 16, 'x'), length: 2 ** 17 };
    for (let steps = 0; steps < 40; steps += 1) {
      const written = files.append({ ...piece, offset: steps * piece.length });
      for (let done = 0; done < steps; done += 1) await (steps % 2 ? setImmediate() : undefined);
      await files.forget(place.session);
      await written;
      await files.forget(place.session);
      expect(await files.size(place)).toBe((steps + 1) * piece.length);
    }
    await files.forget(place.session);
    expect(openFilesBelow(data)).toEqual([]);
  });
});
