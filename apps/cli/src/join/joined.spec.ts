import { checkedUrl } from './joined.js';

describe('the server that a machine joins', () => {
  it.each([
    'https://belay.example',
    'https://belay.example:8443/',
    'http://127.0.0.1:4600',
    'http://localhost:4600',
    'http://[::1]:4600',
  ])('may be at %s', (url) => {
    expect(checkedUrl(url).origin).toBe(new URL(url).origin);
  });

  it.each([
    ['http://belay.example', /is not encrypted/],
    ['http://192.0.2.1:4600', /is not encrypted/],
    ['http://127.0.0.1.belay.example', /is not encrypted/],
    ['http://localhost.belay.example', /is not encrypted/],
    ['ftp://127.0.0.1', /is not a URL/],
    ['belay.example', /is not a URL/],
  ])('is never at %s', (url, why) => {
    expect(() => checkedUrl(url)).toThrow(why);
  });
});
