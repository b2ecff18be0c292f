import { ServerLogger } from './server-logger.js';

const secret = 'sk-very-secret';

function logged(write: (logger: ServerLogger) => void): string {
  const lines: string[] = [];
  write(new ServerLogger({ logLevel: 'info' }, { write: (line) => lines.push(line) }));
  return lines.join('');
}

it.each([
  ['a field', { token: secret }],
  ['a field of a field', { provider: { apiKey: secret } }],
  ['a header', { request: { headers: { authorization: `Bearer ${secret}` } } }],
  ['a cookie', { headers: { cookie: `belay=${secret}` } }],
])('hides a secret in %s', (_, fields) => {
  const line = logged((logger) => logger.warn({ ...fields, said: 'this' }, 'Test'));
  expect(line).toContain('this');
  expect(line).not.toContain(secret);
});

it('logs an error without the request that it has as a property', () => {
  const error = Object.assign(new Error('refused'), {
    code: 'ECONNREFUSED',
    request: { options: { headers: { 'x-api-key': secret } } },
  });
  for (const message of [error, { error, path: '/api' }]) {
    const line = logged((logger) => logger.error(message));
    expect(JSON.parse(line)).toMatchObject({ err: { message: 'refused', code: 'ECONNREFUSED' } });
    expect(line).toContain('server-logger.spec.ts');
    expect(line).not.toContain(secret);
  }
});

it('keeps what others say to one line', () => {
  const line = logged((logger) => logger.log('one\n{"level":60,"msg":"forged"}', 'Test'));
  expect(line.trim().split('\n')).toHaveLength(1);
});
