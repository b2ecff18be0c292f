import { describeSystem, idle } from '@belay/testkit';

describeSystem('attacks: the boundary of a sandbox', (server) => {
  it('holds: no rights, no network card, no engine, no way to change the agent’s programs', async () => {
    const session = await idle(server);
    const look = [
      'grep -E "^(CapPrm|CapEff|CapAmb|NoNewPrivs)" /proc/self/status',
      'ls /sys/class/net',
      'test -S /var/run/docker.sock || echo closed /var/run/docker.sock',
      'for f in /opt/belay/x /usr/x /etc/hosts; do : >>$f || echo "closed $f"; done 2>/dev/null',
      // Positive control: the user’s files are writable.
      ': >>/workspace/x && echo open /workspace/x',
    ].join('; ');
    const { text } = await server.client.sessions.call(session.id, 'terminal.run', {
      command: look,
    });
    expect(text.replaceAll('\t', ' ').split('\n').filter(Boolean)).toEqual([
      'CapPrm: 0000000000000000',
      'CapEff: 0000000000000000',
      'CapAmb: 0000000000000000',
      'NoNewPrivs: 1',
      'lo',
      'closed /var/run/docker.sock',
      'closed /opt/belay/x',
      'closed /usr/x',
      'closed /etc/hosts',
      'open /workspace/x',
    ]);
    session.close();
  });
});
