import { processorMs } from '@belay/testing';
import { imageReference } from './image-reference.js';

describe('the name of an image', () => {
  it.each([
    'node',
    'node:24',
    'belay/sandbox:latest',
    'ghcr.io/owner/name:v1.2_3',
    'localhost:5000/a/b__c--d:latest',
    '[::1]:5000/a',
    `debian@sha256:${'0'.repeat(64)}`,
    `sha256:${'f'.repeat(64)}`,
    'registry.example.com:443/team/app@sha256:0123456789abcdef0123456789abcdef',
  ])('%s', (name) => expect(imageReference.parse(` ${name} `)).toBe(name));

  it.each([
    '',
    ' ',
    'a b',
    '--privileged',
    'localhost:5000/$(id)',
    'node:',
    'node:24\nrm',
    'Node',
    'a/../b',
    'a//b',
    '/a',
    'a/',
    'http://registry.example.com/a',
    'user:password@registry.example.com/a',
    'registry.example.com/v2/?x=1',
    'a@sha256:12',
    '169.254.169.254/latest/meta-data/#',
    `a:${'x'.repeat(129)}`,
  ])('is not %j', (name) => {
    expect(imageReference.safeParse(name).error?.issues[0]?.message).toMatch(
      /^not the name of an image: write NAME:TAG/,
    );
  });

  it('is refused fast when it is long', () => {
    const read = () => {
      for (const part of ['a-', '-', 'a.', 'a', 'a/', 'a_'])
        imageReference.safeParse(`${part.repeat(250).slice(0, 499)}!`);
    };
    expect(processorMs(read)).toBeLessThan(1_000);
  });
});
