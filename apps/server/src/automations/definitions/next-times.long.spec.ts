import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./next-times.spec.js'));
