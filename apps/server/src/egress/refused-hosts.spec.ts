import type { ApprovalRequest, ApprovalVerdict } from '@belay/protocol';
import { RefusedHosts } from './refused-hosts.js';

describe('questions about refused hosts', () => {
  const target = { host: 'a.test', port: 443 };
  const setUp = (client: number, rejection: number) => {
    const asked: { request: ApprovalRequest; answer: (verdict: ApprovalVerdict) => void }[] = [];
    const request = (_session: string, asking: ApprovalRequest) =>
      new Promise<ApprovalVerdict>((answer) => asked.push({ request: asking, answer }));
    return {
      asked,
      hosts: new RefusedHosts(
        { request },
        {
          clientTimeoutMs: client,
          questionTimeoutMs: 60_000,
          rejectionTimeoutMs: rejection,
        },
      ),
    };
  };

  it('hold a client only for a while; the question stays', async () => {
    const { asked, hosts } = setUp(20, 60_000);
    expect(await hosts.ask('s', target)).toBeNull();
    const later = hosts.ask('s', target);
    asked[0]?.answer({ verdict: 'approved' });
    expect(await later).toEqual({ verdict: 'approved' });
    expect(asked).toHaveLength(1);
  });

  it('are new ones for another session or port, and some time after a no', async () => {
    const { asked, hosts } = setUp(10_000, 0);
    const all = [
      hosts.ask('s', target),
      hosts.ask('t', target),
      hosts.ask('s', { ...target, port: 80 }),
    ];
    expect(asked.map(({ request }) => request.id)).toEqual([
      'egress:a.test:443',
      'egress:a.test:443',
      'egress:a.test:80',
    ]);
    for (const { answer } of asked) answer({ verdict: 'rejected' });
    await Promise.all(all);
    const again = hosts.ask('s', target);
    expect(asked.at(-1)?.request.id).toBe('egress:a.test:443#2');
    asked.at(-1)?.answer({ verdict: 'approved' });
    await again;
  });
});
