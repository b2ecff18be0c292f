import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./plain-http.attacks.spec.js'));
