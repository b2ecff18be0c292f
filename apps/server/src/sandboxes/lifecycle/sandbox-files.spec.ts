import { Readable } from 'node:stream';
import { ContainerHost } from '@belay/containers';
import { AppError, newEvent } from '@belay/protocol';
import { until } from '@belay/testing';
import { MachineAgents } from '../machines/machine-agents.js';
import { SandboxServer } from '../../testing/sandbox-server.js';
import { SandboxContainers } from './sandbox-containers.js';

let server: SandboxServer;
beforeEach(async () => {
  server = await new SandboxServer().open();
});
afterEach(() => server.close());

describe('files that are gone', () => {
  const commit = 'c'.repeat(40);
  const copied = async (kind: 'steps' | 'repository', n: number, after = 0) => {
    const part = { kind, n, after, commit };
    await server.copies.store('one', part, Readable.from([`${kind} ${n}`]));
  };
  const restored = async () =>
    (await server.logs.log.read('one', { after: 0 })).filter(({ action }) => action === 'restored');
  const commitEvent = (id: string) =>
    newEvent('agent', 'commit', {
      args: { commit: id, parent: null, files: [] },
      message: 'Recorded',
    });
  const received: string[] = [];
  beforeEach(async () => {
    received.length = 0;
    server.agent.restore = async (_kind, bytes) => void received.push(String(bytes));
    server.agent.checkOut = async () => ({
      commit,
      without: ['huge.bin', `\u001b[31m${'x'.repeat(4_000)}`],
    });
    await server.startSession('one', 10);
    await server.logs.log.append('one', [commitEvent(commit), commitEvent('d'.repeat(40))]);
    await server.service.stop('one');
  });
  const loseFiles = () => server.engine.volumeNames.clear();

  it('come back from their copies, and the log says what does not', async () => {
    await copied('steps', 1);
    await copied('repository', 2);
    await copied('steps', 3, 1);
    loseFiles();
    await server.startSession('one', 10);
    expect(received).toEqual(['steps 1', 'repository 2', 'steps 3']);
    expect(server.unpacked).toEqual([10]);
    const [event] = await restored();
    expect(event?.args).toMatchObject({
      commit,
      step: expect.any(Number),
      without: expect.arrayContaining(['the changes of 1 later step', 'huge.bin']),
    });
    expect(event?.message).not.toContain('\u001b');
    expect(event?.message.length).toBeLessThan(1_000);
    // The new agent knows it from the beginning.
    expect(server.begun.at(-1)?.events.at(-1)).toEqual(event);
    // Once is enough.
    await server.service.stop('one');
    await server.startSession('one', 10);
    expect(await restored()).toHaveLength(1);
    await server.service.remove('one');
    expect(await server.copies.list('one')).toEqual([]);
  });

  it('and were never copied are those that the session began with, and the log says so', async () => {
    loseFiles();
    await server.startSession('one', 10);
    expect(server.unpacked).toEqual([10, 10]);
    expect((await restored()).map(({ args }) => args)).toMatchObject([
      { commit: null, step: null },
    ]);
  });

  it('come back as far as their parts can be read', async () => {
    for (const n of [1, 2, 3]) await copied('steps', n, n - 1);
    await copied('repository', 4);
    server.agent.restore = async (kind, bytes) => {
      if (kind === 'repository' || String(bytes) === 'steps 2')
        throw new AppError('invalid_input', 'It is cut.');
      received.push(String(bytes));
    };
    loseFiles();
    await server.startSession('one', 10);
    expect(received).toEqual(['steps 1']);
    const [event] = await restored();
    expect(String(event?.args['without'])).toContain('.git (It is cut.)');
  });

  it('are not lost by a start that fails', async () => {
    await copied('steps', 1);
    loseFiles();
    server.agent.restore = () => Promise.reject(new AppError('unavailable', 'It fails here.'));
    await expect(server.startSession('one', 10)).rejects.toThrow('It fails here.');
    server.agent.restore = async (_kind, bytes) => void received.push(String(bytes));
    await server.startSession('one', 10);
    expect(received).toEqual(['steps 1']);
    expect(server.unpacked).toEqual([10]);
  });

  it('are copied completely when that is asked for, or the reason is told', async () => {
    await expect(server.service.flush('one')).rejects.toMatchObject({ code: 'unavailable' });
    await server.startSession('one');
    server.agent.flush = () => copied('steps', 1);
    await server.service.flush('one');
    expect(await server.copies.list('one')).toHaveLength(1);
    server.agent.flush = () => Promise.reject(new AppError('too_large', 'No space.'));
    await expect(server.service.flush('one')).rejects.toMatchObject({ code: 'too_large' });
  });

  it.each([
    ['are', undefined, 'The server has a copy of its steps; with its pod went ignored files'],
    [
      'are perhaps',
      new AppError('too_large', 'No space.'),
      'The server may not have a copy of its last steps (No space); with its pod went ignored files',
    ],
  ])('%s copied by a stop where they end with their container', async (_, fault, told) => {
    const keeps = jest.spyOn(ContainerHost.prototype, 'keepsFiles', 'get').mockReturnValue(false);
    await server.startSession('one');
    let copies = 0;
    server.agent.flush = async () => {
      copies += 1;
      if (fault) throw fault;
    };
    const stop = newEvent('user', 'stop', { args: {}, message: 'Stopped by the user.' });
    await server.logs.log.append('one', [stop]);
    await server.service.stop('one');
    keeps.mockRestore();
    expect(copies).toBe(1);
    const { state, reason } = await server.logs.log.summary('one');
    expect(state).toBe('stopped');
    expect(reason).toContain(`Stopped by the user. ${told}`);
  });

  it('come back when their machine was removed', async () => {
    await copied('steps', 1);
    const record = await server.records.find('one');
    await server.records.write({ ...record!, machine: 'removed' });
    await server.startSession('one', 10);
    expect(received).toEqual(['steps 1']);
    expect((await server.records.find('one'))?.machine).toBeUndefined();
  });

  it('that are on another machine stay there until the next sandbox has begun', async () => {
    await copied('steps', 1);
    const record = { ...(await server.records.find('one'))!, machine: 'other' };
    await server.records.write(record);
    const removed = jest.spyOn(MachineAgents.prototype, 'removeFiles');
    server.agent.restore = () => Promise.reject(new AppError('unavailable', 'It fails here.'));
    await expect(server.startSession('one')).rejects.toThrow('It fails here.');
    expect(await server.records.find('one')).toEqual(record);
    expect(await server.service.filesAt('one')).toBe('other');
    expect(removed).not.toHaveBeenCalled();
    server.agent.restore = async (_kind, bytes) => {
      expect(await server.records.find('one')).toEqual(record);
      received.push(String(bytes));
    };
    await server.startSession('one');
    expect(received).toEqual(['steps 1']);
    await until('it is forgotten', async () => !(await server.records.find('one'))?.before);
    expect(removed.mock.calls).toEqual([['other', record.files]]);
    expect(await server.service.filesAt('one')).toBeNull();
  });

  it('that are on a lost node stay there until the next sandbox has begun', async () => {
    await copied('steps', 1);
    const record = await server.records.find('one');
    const has = jest.spyOn(SandboxContainers.prototype, 'hasFiles').mockResolvedValue(false);
    const before = [...server.engine.volumeNames];
    expect(before).not.toEqual([]);
    server.agent.restore = () => Promise.reject(new AppError('unavailable', 'It fails here.'));
    await expect(server.startSession('one')).rejects.toThrow('It fails here.');
    expect(await server.records.find('one')).toEqual(record);
    expect([...server.engine.volumeNames]).toEqual(before);
    server.agent.restore = async (_kind, bytes) => void received.push(String(bytes));
    await server.startSession('one');
    has.mockRestore();
    expect(received).toEqual(['steps 1']);
    await until('they are removed', () =>
      before.every((name) => !server.engine.volumeNames.has(name)),
    );
    expect(await restored()).toHaveLength(1);
  });

  it('that its host finds out of reach at the start come back from their copies in the same start', async () => {
    await copied('steps', 1);
    const before = [...server.engine.volumeNames];
    const has = jest.spyOn(SandboxContainers.prototype, 'hasFiles');
    has.mockResolvedValueOnce(true).mockResolvedValue(false);
    server.engine.fail('start');
    await server.startSession('one');
    has.mockRestore();
    expect(received).toEqual(['steps 1']);
    expect(await restored()).toHaveLength(1);
    await until('they are removed', () =>
      before.every((name) => !server.engine.volumeNames.has(name)),
    );
  });

  it('are not taken for gone by a start that fails while their host does not answer', async () => {
    const record = await server.records.find('one');
    const has = jest.spyOn(SandboxContainers.prototype, 'hasFiles');
    has.mockResolvedValueOnce(true).mockRejectedValue(new AppError('unavailable', 'No answer.'));
    server.engine.fail('start');
    await expect(server.startSession('one')).rejects.toThrow('Docker does not respond.');
    has.mockRestore();
    expect(await server.records.find('one')).toEqual(record);
  });

  it('that are on another machine are still its files after a start that a killed server did not finish', async () => {
    const record = await server.records.find('one');
    const before = { ...record!, machine: 'other' };
    await server.records.write({ ...record!, sandbox: 'half', begun: false, before });
    await server.stop();
    await server.start();
    expect(await server.records.find('one')).toEqual(before);
    const half = { ...record!, session: 'deleted', begun: false, before };
    await server.records.write(half);
    await server.stop();
    await server.start();
    expect(await server.records.find('deleted')).toBeUndefined();
  });

  it('that are still there are used as they are', async () => {
    await copied('steps', 1);
    await server.startSession('one', 10);
    expect(received).toEqual([]);
    expect(await restored()).toEqual([]);
  });
});
