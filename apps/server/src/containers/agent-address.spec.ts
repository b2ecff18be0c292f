import { agentAddress } from './agent-address.js';

describe('the address of the port for agents', () => {
  it.each(['wss://192.0.2.1:4601', 'wss://[2001:db8::1]:4601'])(
    'stays as it is: %s',
    async (url) => {
      expect(await agentAddress(url)).toBe(url);
    },
  );

  it('is that of a name', async () => {
    expect(await agentAddress('wss://localhost:4601')).toMatch(
      /^wss:\/\/(127\.0\.0\.1|\[::1\]):4601$/,
    );
  });

  it('is missing for a name that nobody knows', async () => {
    await expect(agentAddress('wss://belay-agents.invalid:4601')).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(/^BELAY_AGENT_URL names belay-agents\.invalid, which/),
    });
  });
});
