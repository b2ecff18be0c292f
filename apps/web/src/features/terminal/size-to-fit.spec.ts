import { sizeToFit } from './size-to-fit';

describe('sizeToFit', () => {
  it('is as chosen where there is space, and never larger', () => {
    expect(sizeToFit(13, 80, 800)).toBe(13);
    expect(sizeToFit(8, 80, 390)).toBe(8);
  });

  it('is smaller where there is less space, and never too small to read', () => {
    expect(sizeToFit(13, 80, 542)).toBe(11);
    expect(sizeToFit(13, 200, 390)).toBe(9);
  });
});
