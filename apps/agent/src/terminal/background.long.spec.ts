import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./background.spec.js'));
