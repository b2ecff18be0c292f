/**
 * An agent that opens a conversation as ACP asks, and then writes the bytes of files: HOSTILE_FOLDER/1 in its first
 * turn, HOSTILE_FOLDER/2 in its second, and so on. It ends the turn, or with HOSTILE_END its process.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const { HOSTILE_FOLDER = '', HOSTILE_END } = process.env;
const say = (message) =>
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const counter = join(HOSTILE_FOLDER, 'turns');

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method } = JSON.parse(line);
  if (method === 'initialize') say({ id, result: { protocolVersion: 1, agentCapabilities: {} } });
  else if (method === 'session/new') say({ id, result: { sessionId: 'conversation' } });
  else if (method === 'session/prompt') {
    const turn = existsSync(counter) ? Number(readFileSync(counter, 'utf8')) + 1 : 1;
    writeFileSync(counter, String(turn));
    const file = join(HOSTILE_FOLDER, String(turn));
    if (existsSync(file)) process.stdout.write(readFileSync(file));
    if (HOSTILE_END && existsSync(file))
      process.stdout.end(() => process.exit(Number(HOSTILE_END)));
    else say({ id, result: { stopReason: 'end_turn' } });
  }
}
