import { limits } from './limits.js';

const quote = 0x22;
const comma = 0x2c;
const openBracket = 0x5b;
const backslash = 0x5c;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/**
 * Why a JSON text has too many levels or values, as the end of a sentence; undefined if it has not. One pass over the
 * bytes without recursion. For text that is not JSON the result is meaningless, and its parser throws.
 */
export function jsonTextFault(json: Uint8Array): string | undefined {
  let depth = 0;
  let values = 1;
  let isText = false;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at];
    if (isText) {
      if (byte === backslash) at++;
      else if (byte === quote) isText = false;
    } else if (byte === quote) isText = true;
    else if (byte === comma) values++;
    else if (byte === openBracket || byte === openBrace) {
      values++;
      if (++depth > limits.jsonDepth) return `is nested deeper than ${limits.jsonDepth} levels`;
    } else if (byte === closeBracket || byte === closeBrace) depth--;
  }
  return values > limits.jsonValues ? `has more than ${limits.jsonValues} values` : undefined;
}
