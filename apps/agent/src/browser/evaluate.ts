import { AppError, excerpt, ignoreError } from '@belay/protocol';
import { inTime } from '@belay/rpc';
import type { CDPSession, Page } from './chromium.js';

const seconds = 20;
/** Characters of a value or an error that a model is shown. */
const longestValue = 20_000;
const longestError = 2_000;

/**
 * Runs a script in the page’s main frame as its console would: several statements, `await`, the last value. Throws
 * `invalid_input` with what the script threw, and `timeout`.
 */
export async function evaluate(page: Page, script: string): Promise<string> {
  const session = await page.createCDPSession();
  try {
    return await inTime(run(session, script), seconds * 1000, () => {
      throw new AppError(
        'timeout',
        `The script did not finish within ${seconds} s. Do less in one call.`,
      );
    });
  } finally {
    await session.detach().catch(ignoreError('the page took its session with it'));
  }
}

async function run(session: CDPSession, script: string): Promise<string> {
  const { result, exceptionDetails } = await session.send('Runtime.evaluate', {
    expression: script,
    replMode: true,
    awaitPromise: true,
    userGesture: true,
    // Of what runs without a pause; what is awaited has its limit above.
    timeout: seconds * 1000,
  });
  if (exceptionDetails) throw thrown(exceptionDetails);
  const { objectId, unserializableValue, value } = result;
  if (objectId === undefined) {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return shown(unserializableValue ?? text ?? 'undefined');
  }
  const text = await session.send('Runtime.callFunctionOn', {
    objectId,
    functionDeclaration: inWords,
    awaitPromise: true,
    returnByValue: true,
  });
  if (text.exceptionDetails) throw thrown(text.exceptionDetails);
  return shown(String(text.result.value));
}

interface Exception {
  text: string;
  exception?: { description?: string | undefined; value?: unknown } | undefined;
}

function thrown({ text, exception }: Exception): AppError {
  const what = exception?.description ?? (exception ? JSON.stringify(exception.value) : text);
  return new AppError('invalid_input', `The script failed: ${excerpt(what, longestError)}`);
}

const shown = (text: string): string => excerpt(text, longestValue);

/** Runs in the page: a value as JSON, with what JSON does not know in words; an element alone as its HTML. */
const inWords = `async function () {
  const value = typeof this === 'function' ? await this() : this;
  if (value instanceof Node) return (value.outerHTML ?? String(value.nodeValue)).slice(0, ${longestValue + 1});
  const above = [];
  const text = JSON.stringify(value, function (key, one) {
    if (typeof one === 'bigint' || typeof one === 'symbol') return String(one);
    if (typeof one === 'function') return '[function ' + one.name + ']';
    if (one instanceof Node) return one.outerHTML ?? String(one.nodeValue);
    if (one instanceof Error) return String(one);
    if (one instanceof Map || one instanceof Set) return [...one];
    if (typeof one !== 'object' || one === null) return one;
    while (above.length > 0 && above.at(-1) !== this) above.pop();
    if (above.includes(one)) return '[circular]';
    above.push(one);
    return one;
  });
  return (text ?? String(value)).slice(0, ${longestValue + 1});
}`;
