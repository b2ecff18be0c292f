import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./evaluations.spec.js'));
