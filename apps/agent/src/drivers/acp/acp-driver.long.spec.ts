import { newEvent } from '@belay/protocol';
import { AcpStage } from './testing/acp-stage.js';

let acp: AcpStage;
afterEach(() => acp.close());

describe('its turns', () => {
  it('end when the user stops a program that does not listen', async () => {
    acp = new AcpStage({ task: [['deaf']] });
    await acp.stage.event('turn', 2);
    await acp.stage.say(newEvent('user', 'stop', { args: {}, message: 'Stop' }));
    expect((await acp.ended()).args).toMatchObject({ end: 'interrupted' });
    expect(acp.events('error')).toEqual([]);
  });

  it('that end by max_turn_requests fail with a sentence', async () => {
    acp = new AcpStage({ task: [['stop', 'max_turn_requests']] });
    const finish = await acp.stage.event('finish');
    expect(finish.args).toMatchObject({
      outcome: 'failure',
      summary: expect.stringContaining('as many requests'),
    });
    expect((await acp.ended()).args).toMatchObject({ end: 'cut' });
  });
});
