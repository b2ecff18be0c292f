import { friendly, hung, lost } from './failures.js';

describe('an error of the browser’s protocol', () => {
  it.each([
    'Execution context was destroyed',
    'Execution context was destroyed, most likely because of a navigation.',
    'Execution context is not available in detached frame or worker "http://a/"',
    'Protocol error (Runtime.callFunctionOn): Target closed',
    'Page crashed!',
  ])('is that of a lost page, which is read again: %s', (message) => {
    expect(friendly(new Error(message))).toBe(lost);
  });

  it('is that of a page that hangs', () => {
    const message = 'Runtime.evaluate timed out. Increase the ‘protocolTimeout’ setting';
    expect(friendly(new Error(message))).toBe(hung);
  });

  it('is told in its first line otherwise, and an own error stays', () => {
    expect(friendly(new Error('No such thing\n  at x'))).toMatchObject({
      code: 'unavailable',
      message: 'The browser could not do this: No such thing',
    });
    expect(friendly(hung)).toBe(hung);
  });
});
