import { utf8 } from "../core/octets";
import { sha256 } from "../core/sha256";

/** What was begun in this tab; it is gone once the browser has come back. */
const BEGUN = "blackbox.login";

interface Provider {
  issuer: string;
  authorizationEndpoint: string;
  clientId: string;
  scope: string;
  redirectUri: string;
}

interface Begun {
  state: string;
  verifier: string;
  nonce: string;
  /** Where whoever logs in wanted to go. */
  hash: string;
}

function base64url(octets: Uint8Array): string {
  return btoa(String.fromCharCode(...octets)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function fresh(): string {
  return base64url(crypto.getRandomValues(new Uint8Array(32)));
}

/** Logging in by the service's identity provider (OpenID Connect, authorization code with PKCE). */
export class Login {
  private constructor(private readonly provider: Provider) {}

  /** How people log in here; null if they need a token. */
  static async find(): Promise<Login | null> {
    const answer = await fetch("/login", { cache: "no-store", credentials: "omit", redirect: "error" });
    const said = (await answer.json().catch(() => ({}))) as { oidc?: Provider | null; detail?: string };
    if (!answer.ok) {
      throw new Error(said.detail ?? `the service answers with ${answer.status}`);
    }
    return said.oidc ? new Login(said.oidc) : null;
  }

  /** With whom. */
  name(): string {
    return new URL(this.provider.issuer).host;
  }

  /** Goes to the provider, which sends the browser back. */
  begin(): void {
    const begun: Begun = { state: fresh(), verifier: fresh(), nonce: fresh(), hash: location.hash };
    sessionStorage.setItem(BEGUN, JSON.stringify(begun));
    const address = new URL(this.provider.authorizationEndpoint);
    const words = {
      response_type: "code",
      client_id: this.provider.clientId,
      redirect_uri: this.provider.redirectUri,
      scope: this.provider.scope,
      state: begun.state,
      nonce: begun.nonce,
      code_challenge: base64url(sha256(utf8(begun.verifier))),
      code_challenge_method: "S256",
    };
    Object.entries(words).forEach(([name, value]) => address.searchParams.set(name, value));
    location.assign(address);
  }

  /**
   * The token of whoever has come back from the provider; null if nobody has. What the provider put into the address is
   * taken out of it at once.
   */
  static async back(): Promise<string | null> {
    const words = new URLSearchParams(location.search);
    if (!words.has("state")) {
      return null;
    }
    const kept = sessionStorage.getItem(BEGUN);
    sessionStorage.removeItem(BEGUN);
    const begun = kept === null ? null : (JSON.parse(kept) as Begun);
    history.replaceState(null, "", `${location.pathname}${begun?.hash ?? ""}`);
    if (!begun || words.get("state") !== begun.state) {
      throw new Error("This login was not begun in this tab: begin it again.");
    }
    const code = words.get("code");
    if (code === null) {
      throw new Error(`The identity provider refused: ${(words.get("error_description") ?? words.get("error") ?? "it does not say why").slice(0, 200)}`);
    }
    const answer = await fetch("/login", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ code, verifier: begun.verifier, nonce: begun.nonce }),
      cache: "no-store",
      credentials: "omit",
      redirect: "error",
    });
    const said = (await answer.json().catch(() => ({}))) as { token?: string; detail?: string };
    if (!answer.ok || said.token === undefined) {
      throw new Error(said.detail ?? `the service answers with ${answer.status}`);
    }
    return said.token;
  }
}
