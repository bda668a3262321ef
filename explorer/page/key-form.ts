import { html } from 'lit-html'
import { keyRefusal, setKey } from '../api/client.ts'

/** Takes the key out of the address, where the demo's link puts it: it must not be sent on with the address. */
export function takeKeyFromAddress(): string | null {
  const fields = new URLSearchParams(location.hash.slice(1))
  const found = fields.get('key')
  if (found === null) return null
  fields.delete('key')
  const rest = fields.toString()
  history.replaceState(history.state, '', rest === '' ? location.pathname : `#${rest}`)
  return found
}

export function keyForm() {
  const submit = (event: Event) => {
    event.preventDefault()
    const field = (event.target as HTMLFormElement).elements.namedItem('key') as HTMLInputElement
    const value = field.value.trim()
    if (value !== '') setKey(value)
  }
  return html`<main class="gate">
    <form @submit=${submit}>
      <h1>Tidemark</h1>
      <p>The explorer reads the historians of this service with an API key. The key stays in this tab.</p>
      <label for="key">API key</label>
      <div class="row">
        <input id="key" name="key" type="password" autocomplete="off" spellcheck="false" required
          aria-describedby="key-note" aria-invalid=${keyRefusal.value === '' ? 'false' : 'true'} autofocus>
        <button class="primary" type="submit">Open</button>
      </div>
      <p class="error" id="key-note" role="alert">${keyRefusal.value}</p>
      <p class="quiet">Keys are made with <code>tidemark keys create</code>. The interface is described in
        the <a href="docs">reference</a>.</p>
    </form>
  </main>`
}
