import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./providers.spec.js'));
