import { openedRequest } from './git.js';

it('a pull request is at a page that a browser opens', () => {
  const accepts = (url: string) =>
    openedRequest.safeParse({ url, number: 1, into: 'https://git.example.com/a/b.git' }).success;
  expect(accepts('https://git.example.com/a/b/pull/1')).toBe(true);
  expect(accepts('http://localhost:3000/a/b/pulls/1')).toBe(true);
  for (const url of ['https://', 'http:// /x', 'javascript:alert(1)', 'ssh://git.example.com/a'])
    expect(accepts(url)).toBe(false);
});
