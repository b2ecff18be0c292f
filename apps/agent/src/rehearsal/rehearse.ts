import { createServer, type Server } from 'node:http';
import {
  agentCalls,
  ignoreError,
  newEvent,
  serverCalls,
  sessionSettings,
  type ModelReply,
} from '@belay/protocol';
import { rpcServer, type RpcConnection } from '@belay/rpc';

/** The server’s responses in such a session. */
const answered = {
  hello: serverCalls.hello,
  'events.append': serverCalls['events.append'],
  'model.generate': serverCalls['model.generate'],
  'messages.deliver': serverCalls['messages.deliver'],
  'approvals.request': serverCalls['approvals.request'],
  'terminal.stored': serverCalls['terminal.stored'],
  'copies.stored': serverCalls['copies.stored'],
};
type ToAgent = RpcConnection<typeof answered, typeof agentCalls>;
type Call = ModelReply['calls'][number];

const session = 'rehearsal';

/** A model’s usual first calls. Without a shell the command fails, and the session continues. */
const steps: Omit<Call, 'id'>[] = [
  { operation: 'files.write', input: { path: 'a.txt', content: 'one\n' } },
  { operation: 'files.read', input: { path: 'a.txt' } },
  { operation: 'terminal.run', input: { command: 'echo one' } },
  { operation: 'ask', input: { question: 'Enough?' } },
];
/** The last step’s event has the name of its operation. */
const last = steps.at(-1)?.operation;

/**
 * Acts as the server for one agent that connects to the socket, and ends it after a short session. When the runtime’s
 * image is built, this runs the code that every session starts with, so that it is compiled: see
 * docker/agent/compile.cjs.
 */
export async function rehearse(socket: string): Promise<Server> {
  const server = createServer();
  rpcServer({ server, serves: answered, calls: agentCalls, onConnection: play });
  await new Promise<void>((listening) => server.listen(socket, listening));
  return server;
}

function play(agent: ToAgent): void {
  let seq = 1;
  let asked = 0;
  const settings = sessionSettings.parse({ task: 'Rehearse', model: 'scripted:rehearsal' });
  const first = newEvent('user', 'start', { args: settings, message: settings.task });
  const events = [{ ...first, seq, time: new Date().toISOString() }];
  const reply = (): ModelReply => {
    const step = steps[asked++];
    return {
      text: 'Next.',
      calls: step ? [{ ...step, id: `call-${asked}` }] : [],
      finish: step ? 'calls' : 'stop',
      usage: { inputTokens: 1, cachedTokens: 0, outputTokens: 1, dollars: null },
      contextTokens: null,
    };
  };
  agent.serve({
    hello: async () => {
      setImmediate(() => void begin());
      return { startPayload: null, events: [], storedN: 0, services: [] };
    },
    'events.append': async (batch) => {
      if (batch.events.some(({ action }) => action === last)) setImmediate(end);
      return { seqs: batch.events.map(() => (seq += 1)) };
    },
    'model.generate': async () => reply(),
    'messages.deliver': async () => ({}),
    'approvals.request': async () => ({ verdict: 'approved' }),
    'terminal.stored': async () => ({ offset: 0 }),
    'copies.stored': async () => ({
      next: 1,
      steps: 0,
      repository: 0,
      commit: null,
      wanted: false,
    }),
  });
  agent.accept('terminal', async (_meta, stream) => void stream.resume());
  const begin = () => agent.call('session.begin', { session, settings, events, epoch: 1 });
  const end = () =>
    void agent.call('shutdown', {}).catch(ignoreError('the agent ends before it has answered'));
}
