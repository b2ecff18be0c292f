import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newEvent, type NewEvent } from '@belay/protocol';
import { until } from '@belay/testing';
import { AcpStage } from './testing/acp-stage.js';

let acp: AcpStage;
afterEach(() => acp.close());

describe('while a program starts', () => {
  const begin = () =>
    (acp = new AcpStage({ task: 'One', env: { FAKE_RESUME: 'resume', FAKE_SLOW: 'go' } }));
  const starting = () =>
    until('it opens', () => acp.received.some((one) => one['new'] !== undefined));
  const goOn = () => writeFileSync(join(acp.folder, 'home', 'go'), '');
  const settled = () =>
    acp.stage.until((log) => log.some(({ args }) => args['change'] === 'settings'));
  const begun = () => acp.events('turn').filter(({ args }) => args['change'] === 'began');

  it.each([
    ['stops', newEvent('user', 'stop', { args: {}, message: 'Stop' })],
    ['interrupts', newEvent('user', 'pause', { args: { now: true }, message: 'Pause' })],
  ] satisfies [string, NewEvent][])('no turn begins once the user %s it', async (_, event) => {
    begin();
    await starting();
    await acp.stage.say(event);
    goOn();
    await settled();
    await acp.stage.message('Two');
    if (event.action === 'pause')
      await acp.stage.say(newEvent('user', 'resume', { args: {}, message: 'Go on' }));
    await acp.stage.event('end');
    expect(acp.prompts).toEqual([['One', 'Two']]);
    expect(begun()).toHaveLength(1);
  });

  it('no turn begins once its agent is shut down', async () => {
    begin();
    await starting();
    const closed = acp.close(true);
    goOn();
    await closed;
    expect([acp.prompts, begun()]).toEqual([[], []]);
  });

  it('what the user writes at once is in its first turn', async () => {
    begin();
    await starting();
    await acp.stage.message('Two', { delivery: 'steer' });
    goOn();
    await acp.stage.event('end');
    expect(acp.prompts).toEqual([['One', 'Two']]);
  });

  it('it may end when its options are set, and the next message starts it again', async () => {
    const env = { FAKE_RESUME: 'resume', FAKE_BRITTLE: '1' };
    acp = new AcpStage({ task: 'One', env, settings: { model: 'openai:large' } });
    const error = await acp.stage.event('error');
    expect(error.message).toBe('Fake ended (exit 7): No such option.');
    await acp.stage.message('Two');
    await acp.stage.event('end');
    expect(acp.prompts).toEqual([['One', 'Two']]);
    expect(acp.events('error')).toHaveLength(1);
    const told = acp.events('turn').map(({ message }) => message);
    expect(told.filter((message) => message.includes('could not'))).toEqual([]);
  });
});
