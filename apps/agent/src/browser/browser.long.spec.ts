import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./browser.spec.js'));
