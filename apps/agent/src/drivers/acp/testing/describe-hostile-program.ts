import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AcpStage } from './acp-stage.js';
import { hostileTurns } from './hostile-turns.js';

const hostileAgent = join(__dirname, 'hostile-agent.mjs');

/** What the agent’s process would write to its own log, and what would end it. */
function watched() {
  const rejections: unknown[] = [];
  const note = (reason: unknown) => rejections.push(reason);
  process.on('unhandledRejection', note);
  process.on('uncaughtException', note);
  const printed = jest.spyOn(console, 'error').mockImplementation(() => undefined);
  return {
    rejections,
    printed: () => printed.mock.calls.map((parts) => JSON.stringify(parts)),
    end() {
      process.off('unhandledRejection', note);
      process.off('uncaughtException', note);
      printed.mockRestore();
    },
  };
}

let folder: string;
let acp: AcpStage;
let watch: ReturnType<typeof watched>;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'belay-hostile-'));
  watch = watched();
});
afterEach(async () => {
  await acp.close();
  watch.end();
  rmSync(folder, { recursive: true });
});

function begin(
  turns: readonly (readonly Buffer[] | Buffer)[],
  env: Record<string, string> = {},
): void {
  for (const [at, turn] of turns.entries()) {
    const bytes = Buffer.isBuffer(turn)
      ? turn
      : Buffer.concat(turn.flatMap((one) => [one, Buffer.from('\n')]));
    writeFileSync(join(folder, String(at + 1)), bytes);
  }
  acp = new AcpStage({
    task: 'Go',
    command: [process.execPath, hostileAgent],
    env: { HOSTILE_FOLDER: folder, ...env },
    approve: async () => ({ verdict: 'rejected', reason: 'No.' }),
  });
}

/** Every event is one that the server takes. */
const sentences = () => acp.events('attention', 'error').map(({ message }) => message);

interface Hostile {
  /** Each makes other messages that are not ACP. */
  seeds: readonly number[];
  /** The last bytes of a program that ends. */
  endings: readonly (readonly [name: string, bytes: Buffer])[];
}

/** A program whose messages are not ACP, with these of them. */
export function describeHostileProgram({ seeds, endings }: Hostile): void {
  describe('attacks: a program that sends what is not ACP', () => {
    it.each(seeds)(
      'does not end the agent, which goes on and says so once (seed %i)',
      async (seed) => {
        begin(hostileTurns(seed));
        const done = (nth: number) =>
          acp.stage.until(() => acp.events('end', 'error').length === nth);
        await done(1);
        for (const nth of [2, 3, 4]) {
          await acp.stage.message(`And ${nth}`);
          await done(nth);
        }
        expect(watch.rejections).toEqual([]);
        const told = sentences().filter((sentence) => sentence.startsWith('Fake sent'));
        expect(told).toEqual([
          expect.stringMatching(/^Fake sent a message that .{5,60}\. Such messages are skipped\.$/),
        ]);
        // The SDK’s own lines are short, whatever the message was.
        for (const text of watch.printed()) expect(text.length).toBeLessThan(300);
      },
    );

    it.each(endings)(
      'may end %s: the agent starts it again, and then says so',
      async (_, bytes) => {
        begin([bytes, bytes], { HOSTILE_END: '3' });
        const error = await acp.stage.event('error');
        expect(error.message).toBe('Fake ended (exit 3).');
        expect(watch.rejections).toEqual([]);
        await acp.stage.message('Again');
        await acp.stage.event('end');
      },
    );
  });
}

/** The limit of what an agent’s program may send that is not ACP. */
export function describeInvalidOnly(): void {
  describe('attacks: a program that sends what is not ACP', () => {
    it('is ended when it sends nothing else', async () => {
      const invalid = Buffer.from('{"jsonrpc":"2.0","id":9,"result":1}\n'.repeat(100_000));
      begin([invalid, invalid]);
      const error = await acp.stage.event('error');
      expect(error.message).toBe(
        'Fake was ended because it sent 1,000 messages that are not valid. Choose another version under Settings → Agents.',
      );
      expect(watch.printed()).toEqual([]);
    });
  });
}
