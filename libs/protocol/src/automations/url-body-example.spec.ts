import { urlBodyExample } from './url-body-example.js';

describe('an example for the URL of an automation', () => {
  it('has the field that identifies a request', () => {
    expect(urlBodyExample({ url: true })).toEqual({});
    expect(urlBodyExample({ url: true, key: 'alert_id' })).toEqual({ alert_id: 'request-1' });
    expect(urlBodyExample({ url: true, key: 'alert.id' })).toEqual({ alert: { id: 'request-1' } });
    expect(urlBodyExample({ hand: true })).toEqual({});
    expect(urlBodyExample({ url: true, key: "a'; rm -r x; '" })).toEqual({});
  });
});
