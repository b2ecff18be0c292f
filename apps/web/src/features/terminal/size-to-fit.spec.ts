import { sizeToFit } from './size-to-fit';

describe('sizeToFit', () => {
  it('keeps the chosen size where there is space for it', () => {
    expect(sizeToFit(13, 80, 800)).toBe(13);
    expect(sizeToFit(8, 80, 390)).toBe(8);
  });

  it('shrinks to fit less space, but remains readable', () => {
    expect(sizeToFit(13, 80, 542)).toBe(11);
    expect(sizeToFit(13, 200, 390)).toBe(9);
  });
});
